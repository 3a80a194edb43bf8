// T-20: what a user asks Nova for between the look and the order comes first.
import t from 'tap'
import { domainCrashed } from '../../../shared/events/libvirt.ts'
import type { Kube } from '../../../shared/kube/index.ts'
import { lab } from './lab.ts'
import { pass } from './mortal.ts'

const failed = { event: 'stopped', detail: 'failed' }

t.test('a server that its user stops when its restart is noted and not yet asked for is not started', async t => {
  const it = await lab(t, ['hv0'], 2)
  const [stopped = '', other = ''] = it.servers('hv0')
  const stop = (): void => {
    const instance = it.fake.world.instances.get(stopped)
    if (!instance || instance.actions.some(({ action }) => action === 'stop')) return
    Object.assign(instance, { vmState: 'stopped', powerState: 4 })
    const startedMs = it.clock.now()
    const by = { userId: 'jane', projectId: 'p', message: null, steps: [] }
    instance.actions.unshift({ requestId: 'req-jane', action: 'stop', startedMs, updatedMs: startedMs, ...by })
  }
  /** The user is as quick as can be: right after the note. */
  const meanwhile = (kube: Kube): Kube => ({
    ...kube,
    async applyStatus(...args) {
      const written = await kube.applyStatus(...args)
      if (JSON.stringify(args[1]).includes('"Restarting"')) stop()
      return written
    }
  })
  const engine = await it.process('mode: drover', meanwhile)
  await it.domains('hv0', () => 'off')
  for (const server of [stopped, other]) await it.tell(engine, 'hv0', domainCrashed, { server, ...failed })
  await pass(it, [engine], 20)
  t.strictSame(it.restarts(), [other], 'only the other one')
  const found = (await it.ha('hv0')).incidents?.find(({ server }) => server === stopped)
  t.match(found, { state: 'Closed', rule: 'RequestExplains', reason: /stop at .* by a user \(req-jane\)/ })
})
