// HA-17, T-10: many faults at once, several processes, events twice, late and out of order, a process that dies between note and call.
import t from 'tap'
import type { Engine } from '../../../functions/ha/engine.ts'
import * as libvirt from '../../../shared/events/libvirt.ts'
import { serverBlocked, serverRecovered } from '../../../shared/events/workflow.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { lab, trace, type Lab } from './lab.ts'
import { mortalKube, pass, random, untilTold } from './mortal.ts'

t.setTimeout(600_000) // of the whole file: that of a test ends no later than that of its file

const { domainChanged, domainCrashed, domainRebooted, domainStopped, watchdogFired } = libvirt
const { shutdownRequested, shutdownCancelled } = libvirt
const failed = { event: 'stopped', detail: 'failed' }
const names = (count: number): string[] => Array.from({ length: count }, (_, n) => `hv${n}`)

async function storm(it: Lab, engines: readonly Engine[], hosts: readonly string[]): Promise<void> {
  await Promise.all(hosts.map(host => it.domains(host, () => 'off')))
  await Promise.all(
    hosts.map(async host => {
      for (const [n, server] of it.servers(host).entries())
        // not awaited one by one: they come as fast as the broker brings them, in order for each host
        await Promise.resolve(
          void waiting.push(untilTold(() => it.tell(engines[n % engines.length]!, host, domainCrashed, { server, ...failed })))
        )
    })
  )
  await Promise.all(waiting.splice(0))
}
const waiting: Promise<void>[] = []

t.test('500 faults on 10 hosts within a second: nothing lost, the fleet is suspected, nobody is restarted', async t => {
  const hosts = names(10)
  const it = await lab(t, hosts, 50)
  const engines = [await it.process('mode: drover'), await it.process('mode: drover')]
  await storm(it, engines, hosts)
  for (const host of hosts) {
    const { incidents = [] } = await it.ha(host)
    t.equal(incidents.length, 50, `${host}: each of its servers has its incident`)
    t.strictSame([...new Set(incidents.map(({ state }) => state))], ['Checking'])
  }
  await pass(it, engines, 6)
  for (const host of hosts) {
    const { incidents = [], signals = [] } = await it.ha(host)
    matchWhole(t, signals, [{ kind: 'FleetFault', object: 'crashed', count: 50 }])
    t.strictSame([...new Set(incidents.map(({ state, rule }) => `${state} ${rule}`))], ['Reported FleetFault'])
  }
  t.strictSame(it.restarts(), [])
  t.ok(
    [...it.fake.world.hosts.values()].every(({ status }) => status === 'enabled'),
    'no host is disabled'
  )
})

t.test('the same storm where it is taken for single faults: every server is restarted once, by whichever process', async t => {
  const hosts = names(10)
  const it = await lab(t, hosts, 50)
  const policy = 'mode: drover\ncorrelation: { vms: 1000 }'
  const engines = [await it.process(policy), await it.process(policy)]
  await storm(it, engines, hosts)
  await storm(it, engines, hosts) // delivered twice
  await pass(it, engines, 4)
  await Promise.all(hosts.map(host => it.domains(host, () => 'running')))
  await pass(it, engines, 4)
  const states = async () =>
    (await Promise.all(hosts.map(async host => (await it.ha(host)).incidents?.map(({ state }) => state) ?? []))).flat()
  for (let n = 0; n < 30 && (await states()).some(state => state !== 'Recovered'); n++) await pass(it, engines, 16, 16)
  t.equal(it.restarts().length, 500)
  t.equal(new Set(it.restarts()).size, 500, 'none twice')
  t.strictSame([...new Set(await states())], ['Recovered'])
  await Promise.all(engines.map(engine => engine.close())) // all that was to be told is told
  const recovered = it.told.filter(({ kind }) => kind.type === serverRecovered.type)
  t.equal(new Set(recovered.map(({ id }) => id)).size, 500)
  t.ok(
    recovered.every(({ traceparent }) => traceparent === trace),
    'under the trace of the libvirt event'
  )
  const orders = it.fake.requests.filter(({ path }) => path.endsWith('/action'))
  t.ok(
    orders.every(({ globalRequestId }) => globalRequestId === 'req-0af76519-16cd-43dd-8448-eb211c80319c'),
    'and so is Nova asked'
  )
})

t.test('HA-17: what is told of a host is taken in the order in which it came, however fast', async t => {
  const hosts = names(2)
  const it = await lab(t, hosts, 20)
  const engine = await it.process('mode: drover')
  const atMs = it.clock.now()
  const told: Promise<void>[] = []
  // of the same time, so that their order alone decides: one ends with the request, the other with its end
  for (let n = 0; n < 41; n++)
    for (const [h, host] of hosts.entries()) {
      const server = it.servers(host)[n % 20] ?? ''
      told.push(it.tell(engine, host, domainRebooted, { server }, atMs))
      const kind = (n + h) % 2 === 0 ? shutdownRequested : shutdownCancelled
      told.push(it.tell(engine, host, kind, { budgetSeconds: 60 }, atMs))
    }
  await Promise.all(told)
  matchWhole(t, (await it.ha('hv0')).signals, [{ kind: 'ShutdownRequested' }])
  t.notOk((await it.ha('hv1')).signals)
  for (const host of hosts) t.equal((await it.ha(host)).incidents?.length, 20)
})

t.test('too much at once is refused, and sent again by the broker', async t => {
  const it = await lab(t, ['hv0'], 1)
  const engine = await it.process('mode: drover')
  const [server = ''] = it.servers('hv0')
  const one = { about: 'count', server, name: '', kind: 'disk', event: 'e', atMs: 0, trace: undefined } as const
  await t.rejects(
    engine.hear(
      'hv0',
      Array.from({ length: 10_001 }, () => one)
    ),
    { name: 'Crowded' }
  )
  await engine.hear('hv0', [one])
  t.equal((await it.ha('hv0')).incidents?.length, 1)
})

t.test('twice, late, out of order, killed between note and call: the same end', async t => {
  const hosts = names(3)
  const it = await lab(t, hosts, 8)
  for (const seed of [1, 2]) {
    const chance = random(seed)
    const policy = 'mode: drover\ncorrelation: { vms: 1000 }'
    let mayDie = true
    const mortal = mortalKube(() => mayDie && chance() < 0.15)
    const engines = [await it.process(policy, mortal), await it.process(policy, mortal)]
    const restartsBefore = it.restarts().length
    const all = hosts.flatMap(host => it.servers(host).map((server, n) => ({ host, server, n })))
    const atMs = it.clock.now()
    const down = new Set(all.filter(({ n }) => n < 6).map(({ server }) => server))
    await Promise.all(hosts.map(host => it.domains(host, server => (down.has(server) ? 'off' : 'running'))))
    // 0–2 crash, 3 is stopped by its user, 4 by its guest, 5 by its watchdog, 6 and 7 reboot and run
    for (const { server, n } of all) {
      const instance = it.fake.world.instances.get(server)!
      if (n === 3)
        instance.actions.unshift({
          requestId: `req-stop-${seed}-${server}`,
          action: 'stop',
          userId: 'jane',
          projectId: 'p',
          startedMs: atMs - 1000,
          updatedMs: atMs,
          message: null,
          steps: []
        })
    }
    const events = all.flatMap(({ host, server, n }) => {
      const tell = (kind: Parameters<Lab['tell']>[2], data: object, lateMs = 0) => ({
        host,
        kind,
        data: { server, ...data },
        atMs: atMs + lateMs
      })
      if (n < 3) return [tell(domainCrashed, failed)]
      if (n === 3)
        return [
          tell(domainStopped, { event: 'shutdown', detail: 'by-guest' }),
          tell(domainStopped, { event: 'stopped', detail: 'shutdown' }, 50)
        ]
      if (n === 4)
        return [
          tell(domainStopped, { event: 'shutdown', detail: 'by-guest' }),
          tell(domainStopped, { event: 'stopped', detail: 'shutdown' }, 20)
        ]
      if (n === 5) return [tell(watchdogFired, { action: 'poweroff' }), tell(domainCrashed, failed, 30)]
      return [
        tell(domainRebooted, {}),
        tell(domainRebooted, {}, 80),
        tell(domainChanged, { event: 'resumed', detail: 'unpaused' }, 90)
      ]
    })
    const twice = events.filter(() => chance() < 0.4)
    const deliveries = [...events, ...twice].map(event => ({ event, order: chance() })).toSorted((a, b) => a.order - b.order)
    const late = deliveries.splice(0, 6)
    const deliver = async ({ event: { host, kind, data, atMs } }: (typeof deliveries)[number]): Promise<void> => {
      const engine = engines[chance() < 0.5 ? 0 : 1]!
      await untilTold(() => it.tell(engine, host, kind, data, atMs))
    }
    await Promise.all(deliveries.map(deliver))
    await pass(it, engines, 4)
    await Promise.all(late.map(deliver))
    for (let n = 0; n < 10; n++) await pass(it, engines, 4)
    mayDie = false
    await pass(it, engines, 48) // what a dead process noted counts as lost after 40 s
    await Promise.all(
      hosts.map(host =>
        it.domains(host, server => (all.some(one => one.server === server && (one.n === 3 || one.n === 4)) ? 'off' : 'running'))
      )
    )
    await pass(it, engines, 160, 8)
    const restarted = it.restarts().slice(0)
    t.equal(restarted.length - restartsBefore, 12, `seed ${seed}: four of each host, each once`)
    for (const host of hosts) {
      const { incidents = [] } = await it.ha(host)
      const ends = it.servers(host).map(id => incidents.find(({ server }) => server === id)?.state)
      t.strictSame(
        ends,
        ['Recovered', 'Recovered', 'Recovered', 'Closed', 'Closed', 'Recovered', 'Closed', 'Closed'],
        `seed ${seed}: ${host}`
      )
    }
    t.strictSame(
      it.told.filter(({ kind }) => kind.type === serverBlocked.type),
      [],
      'nobody is needed'
    )
    await Promise.all(engines.map(engine => engine.close()))
    // all is well again before the next seed
    for (const host of hosts) await it.domains(host, () => 'running')
    for (const host of hosts)
      await it.admin.patch(Hypervisor, { name: host }, { status: { ha: null } }, { subresource: 'status' })
    for (const instance of it.fake.world.instances.values())
      instance.actions = instance.actions.filter(({ action }) => action === 'create')
    it.clock.advance(3_600_000)
  }
})
