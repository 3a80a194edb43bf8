// HA-17: a process knows what it wrote itself, and reads a host of a storm once a second; what others write is never overlooked.
import t from 'tap'
import { newest } from '../../../functions/ha/newest.ts'
import type { Seen } from '../../../functions/ha/seen.ts'
import { domainCrashed } from '../../../shared/events/libvirt.ts'
import { KubeError, type Kube } from '../../../shared/kube/index.ts'
import { OVSNode } from '../../../shared/schema/ovs-node.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { lab } from './lab.ts'

const version = (resourceVersion: string): Seen =>
  ({ hypervisor: { metadata: { name: 'hv0', resourceVersion } }, ovsNode: undefined, node: undefined }) as unknown as Seen
const versionOf = (parts: Pick<Seen, 'hypervisor'> | undefined): string | undefined => parts?.hypervisor.metadata.resourceVersion

t.test('what was read or written last', async t => {
  let nowMs = 0
  const known = newest(() => nowMs)
  const early = known.now()
  known.read('hv0', version('1'), early)
  t.equal(versionOf(known.recent('hv0')), '1')
  t.equal(versionOf(known.over('hv0', version('1'), early)), '1', 'nothing was written since')
  nowMs = 500
  known.written('hv0', version('2'))
  t.equal(versionOf(known.over('hv0', version('1'), early)), '2', 'what was written after the look had begun counts')
  t.equal(versionOf(known.over('hv0', version('3'), known.now())), '3', 'a later look has seen it')
  known.read('hv0', version('1'), { ...early, atMs: 400 })
  t.equal(versionOf(known.recent('hv0')), '2', 'a look that took long does not bring the old one back')
  nowMs = 1400
  t.equal(versionOf(known.recent('hv0')), '2')
  nowMs = 1401
  t.equal(known.recent('hv0'), undefined, 'a second after it was read it is read again, however often it was written')
  known.forget('hv0')
  t.equal(versionOf(known.over('hv0', version('1'), early)), '1')
  for (let n = 0; n < 100; n++) known.written(`hv${n}`, version('9'))
  const kept = Array.from({ length: 100 }, (_, n) => known.recent(`hv${n}`)).filter(parts => parts !== undefined)
  t.equal(kept.length, 20, 'of a whole fleet only the last are held')
})

const failed = { event: 'stopped', detail: 'failed' }

t.test('a storm of one host: few reads, no lost race, each fault in the status', async t => {
  const it = await lab(t, ['hv0'], 40)
  await it.domains('hv0', () => 'off')
  const asked = { find: 0, apply: 0, conflict: 0 }
  let away = false
  let between: (() => Promise<void>) | undefined
  const counted = (kube: Kube): Kube => ({
    ...kube,
    async find(kind, ...rest) {
      asked.find += kind.kind === 'Hypervisor' ? 1 : 0
      return kube.find(kind, ...rest)
    },
    async applyStatus(...args) {
      if (away) throw new KubeError('Unreachable', 'away for a moment')
      const other = between
      between = undefined
      await other?.()
      try {
        const written = await kube.applyStatus(...args)
        asked.apply += written.metadata?.resourceVersion === args[1].metadata?.resourceVersion ? 0 : 1
        return written
      } catch (err) {
        asked.conflict += err instanceof KubeError && err.code === 'Conflict' ? 1 : 0
        throw err
      }
    }
  })
  const engine = await it.process('mode: drover\ncorrelation: { vms: 1000 }', counted)
  const servers = it.servers('hv0')
  const crash = (n: number): Promise<void> => it.tell(engine, 'hv0', domainCrashed, { server: servers[n], ...failed })
  const known = async (): Promise<number | undefined> => (await it.ha('hv0')).incidents?.length

  const beganMs = performance.now()
  await crash(0)
  t.equal(await known(), 1, 'answered after it had been written')
  await Promise.all(Array.from({ length: 19 }, (_, n) => crash(n + 1)))
  t.equal(await known(), 20)
  t.ok(asked.apply <= 3, `those that come together are written together: ${asked.apply} writes, the first of them at once`)
  const looks = 4 + Math.floor((performance.now() - beganMs) / 3000) // one of its own every three seconds, however long it took
  t.ok(asked.find <= looks, `read ${asked.find} times for 20 faults, expected ${looks} at most`)
  t.equal(asked.conflict, 0)

  between = () => it.domains('hv0', server => (server === servers[0] ? 'running' : 'off')) // the agent writes before the engine does
  await crash(20)
  t.equal(await known(), 21)
  t.equal(asked.conflict, 1, 'seen by the version, and decided anew')

  const node = { metadata: { name: 'hv0', namespace: 'ovn-system' }, spec: { nodeRef: { name: 'hv0' } } }
  await it.admin.create(OVSNode, node)
  const detectedAt = new Date(it.clock.now()).toISOString()
  const issue = { id: 'b', type: 'BondDown', object: 'bond0', severity: 'Critical', message: 'down', detectedAt } as const
  await it.admin.applyStatus(OVSNode, { metadata: node.metadata, status: { issues: [issue] } })
  await engine.hear('hv0', []) // a hint is followed by a look at everything, however lately that was read
  matchWhole(t, (await it.ha('hv0')).signals, [{ kind: 'BondLost', object: 'bond0' }])
  await crash(21)
  matchWhole(t, (await it.ha('hv0')).signals, [{ kind: 'BondLost' }], 'and stays')

  away = true
  const refused = crash(22)
  const later = crash(23)
  await t.rejects(refused)
  await t.rejects(later)
  away = false
  await crash(23)
  await crash(22) // sent again by the broker
  t.equal(await known(), 24, 'what was not written is not taken for written')

  asked.conflict = 0
  await Promise.all([engine.sweep(true), ...servers.slice(24).map((_, n) => crash(24 + n))])
  t.equal(await known(), 40)
  t.equal(asked.conflict, 0, 'looks of one process, with and without Nova, do not race each other')
})
