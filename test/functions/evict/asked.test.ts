// What a drain asks of Nova, and how often: EV-7, EV-10, EV-13, EV-14, EV-16, EV-21.
import { OpenStackError } from 'openstack-sdk-lite'
import t from 'tap'
import { createFollower, type Followed } from '../../../functions/evict/follow.ts'
import { eventually } from '../../servers/eventually.ts'
import { drain, quiet, type Drain } from './world.ts'

t.setTimeout(110_000)

const begun = ({ fake }: Drain) => fake.world.migrations.length
const calls = ({ fake }: Drain): string[] =>
  fake.requests.map(({ method, path }) => `${method} ${path.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '{id}')}`)

/** Passes until `servers` moves were ordered. */
async function untilBegun(drained: Drain, servers: number): Promise<void> {
  for (let at = 0; at < 20 && begun(drained) < servers; at++) {
    const { nextCheckMs } = await drained.pass()
    drained.clock.advance(Math.min(nextCheckMs, 500))
  }
}

async function scene(servers: number, given: Parameters<typeof drain>[0] = {}, limit = 50): Promise<Drain & { ids: string[] }> {
  const drained = await drain(given, { options: { destinationLimit: limit } })
  t.teardown(() => drained.close())
  drained.fake.host('hv1').liveMoveMs = 60_000
  const ids = Array.from({ length: servers }, (_, at) => drained.fake.addServer({ name: `s${at}`, host: 'hv1' }).id)
  return Object.assign(drained, { ids })
}

t.test('EV-7: Nova chooses the host, unless the Eviction names hosts', async t => {
  const targetsOf = async (spec: Parameters<typeof drain>[0]): Promise<unknown[]> => {
    const drained = await scene(1, spec)
    const { servers } = drained.cloud
    const given: unknown[] = []
    const liveMigrate: typeof servers.liveMigrate = (id, target) => {
      given.push(target)
      return servers.liveMigrate(id, target)
    }
    drained.deps = { ...drained.deps, cloud: { ...drained.cloud, servers: { ...servers, liveMigrate } } }
    await untilBegun(drained, 1)
    return given
  }
  t.strictSame(await targetsOf({}), [undefined])
  t.strictSame(await targetsOf({ targetHosts: ['hv3'] }), ['hv3'])
})

t.test('EV-10: a server is read again right before its start; what changed meanwhile is not moved', async t => {
  const drained = await scene(1)
  const [id = ''] = drained.ids
  // somebody begins to resize it after the listing, before the order
  const { servers } = drained.cloud
  const get: typeof servers.get = async server => {
    const found = await servers.get(server)
    return found && { ...found, status: 'RESIZE', taskState: 'resize_prep' }
  }
  drained.deps = { ...drained.deps, cloud: { ...drained.cloud, servers: { ...servers, get } } }
  for (let at = 0; at < 5; at++) drained.clock.advance((await drained.pass()).nextCheckMs)
  t.equal(begun(drained), 0)
  t.match(drained.entry(id), { state: 'Waiting', reason: 'Transient', message: /changed meanwhile: RESIZE/ })
})

t.test('EV-10: an order whose answer was lost is looked for, for 30 s, before it is given again', async t => {
  const drained = await scene(1)
  const [id = ''] = drained.ids
  drained.fake.faults.add({ method: 'POST', path: /action$/, times: 1, effect: { lose: 'answer' } })
  await untilBegun(drained, 1)
  await drained.pass()
  t.equal(begun(drained), 1, 'Nova had taken it, and it is not asked for twice')
  t.match(drained.entry(id), { state: 'Migrating' })

  const lost = await scene(1)
  const [other = ''] = lost.ids
  lost.fake.faults.add({ method: 'POST', path: /action$/, times: 1, effect: { lose: 'request' } })
  const orders = () => lost.fake.requests.filter(({ method }) => method === 'POST').length
  for (let at = 0; at < 10 && lost.entry(other)?.reason !== 'Asked'; at++) {
    const { nextCheckMs } = await lost.pass()
    if (lost.entry(other)?.reason !== 'Asked') lost.clock.advance(Math.min(nextCheckMs, 500))
  }
  t.match(lost.entry(other), { state: 'Queued', reason: 'Asked', message: /answer was lost/ })
  const before = orders()
  for (let second = 0; second < 25; second += 5) {
    await lost.pass()
    lost.clock.advance(5000)
  }
  t.equal(orders(), before, 'it might yet show')
  lost.clock.advance(6000)
  await untilBegun(lost, 1)
  t.equal(begun(lost), 1, 'it did not: asked again')
})

t.test('EV-14: a look at moves under way is two listings, however many servers there are', async t => {
  const drained = await scene(40, { maxParallel: 8 })
  await untilBegun(drained, 8)
  drained.clock.advance(1000)
  await drained.pass()
  drained.fake.forget()
  await drained.pass()
  t.strictSame(calls(drained).toSorted(), ['GET /os-migrations', 'GET /servers/detail'])
})

t.test('EV-14, EV-19: servers that went to one host are read in one listing of it; a failing one is asked for alone', async t => {
  const drained = await scene(6, { maxParallel: 6, targetHosts: ['hv2'] })
  await untilBegun(drained, 6)
  drained.clock.advance(120_000)
  drained.fake.forget()
  await drained.pass()
  t.strictSame(
    calls(drained)
      .filter(call => call.startsWith('GET /servers'))
      .toSorted(),
    ['GET /servers/detail', 'GET /servers/detail']
  )
  t.equal(drained.eviction.status?.progress?.done, 6)

  const blind = await scene(2, { maxParallel: 2, targetHosts: ['hv2'] })
  await untilBegun(blind, 2)
  blind.clock.advance(120_000)
  const { servers } = blind.cloud
  const list: typeof servers.list = async given => {
    if (given?.host === 'hv2') throw new OpenStackError('ServiceFault', 'no list today')
    return servers.list(given)
  }
  blind.deps = { ...blind.deps, cloud: { ...blind.cloud, servers: { ...servers, list } } }
  await blind.pass()
  t.equal(blind.eviction.status?.progress?.done, 2)
})

t.test(
  'EV-21: every pass by another process, the first of which wrote nothing: nobody is moved twice, nobody forgotten',
  async t => {
    const drained = await scene(5)
    drained.fake.host('hv1').liveMoveMs = 2000
    await untilBegun(drained, 1)
    const { status: _, ...forgotten } = drained.eviction
    drained.eviction = forgotten
    const untilMs = drained.clock.now() + 600_000
    while (drained.eviction.status?.verdict === undefined && drained.clock.now() < untilMs) {
      drained.deps = drained.newProcess()
      drained.clock.advance(Math.max(1, Math.min((await drained.pass()).nextCheckMs, 5000)))
    }
    t.equal(drained.eviction.status?.verdict, 'Succeeded')
    t.equal(begun(drained), 5)
  }
)

const follow = (run: () => Followed, unhurriedMs?: number) => {
  let passes = 0
  const counted = async (): Promise<Followed> => {
    passes += 1
    return run()
  }
  const follower = createFollower({ run: counted, log: quiet, ...(unhurriedMs !== undefined && { unhurriedMs }) })
  t.teardown(() => follower.close())
  return { follower, passes: () => passes }
}
const idle: Followed = { moving: new Set(), nextCheckMs: undefined, reserve: 0 }

t.test('EV-13: after an event Nova is asked again until it agrees', async t => {
  let stale = 3
  const { follower, passes } = follow(() => ({ ...idle, moving: new Set((stale -= 1) >= 0 ? ['a'] : []) }))
  await follower.hint('hv1', 'a')
  await eventually('four passes', async () => passes() === 4)
  t.equal(stale, -1, 'three times too early, then it agreed')
})

t.test('EV-14: while no lane is idle, Nova is not listed over and over because it has not agreed yet', async t => {
  const waiting = follow(() => ({ ...idle, moving: new Set(['a']), reserve: 0 }))
  const calm = follow(() => ({ ...idle, moving: new Set(['a']), reserve: Infinity }), 3_600_000)
  for (const { follower } of [waiting, calm]) {
    void follower.hint('hv1', 'a')
    await follower.pass('hv1')
  }
  await eventually('a server that waits for the lane has Nova asked again and again', async () => waiting.passes() === 4)
  t.equal(calm.passes(), 1)
})

t.test(
  'EV-13, EV-16: ends that come together share a pass; while Nova has one in its queue, a single end is no hurry',
  async t => {
    const { follower, passes } = follow(() => ({ ...idle, reserve: 1 }), 3_600_000)
    await follower.pass('hv1')
    const first = follower.hint('hv1', 'a')
    await Promise.all([first, follower.hint('hv1', 'b'), follower.hint('hv1', 'c')])
    t.equal(passes(), 2, 'the second end left a lane idle')
    let seen = false
    void follower.hint('hv1', 'd').then(() => (seen = true))
    await follower.pass('hv1')
    await eventually('the answer', async () => seen)
    t.equal(passes(), 3, 'any pass answers it')
  }
)
