// What others learn of a drain: when it ends (EV-26), events (EV-27), metrics (HV-64), and a copy that gets no further (EV-18). Pure parts.
import { Registry } from 'prom-client'
import t from 'tap'
import { estimate } from '../../../functions/evict/eta.ts'
import { createMemory, learnStalls } from '../../../functions/evict/memory.ts'
import { evictMetrics } from '../../../functions/evict/metrics.ts'
import type { Entry, Status } from '../../../functions/evict/seen.ts'
import { newsOf } from '../../../functions/evict/tell.ts'
import type { Eviction } from '../../../shared/schema/eviction.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { drain } from './world.ts'

const now = new Date('2026-11-17T12:00:00Z')
const secondsTo = (eta: { eta: Date } | undefined): number => Math.round(((eta?.eta.getTime() ?? 0) - now.getTime()) / 1000)
const at = (second: number): string => new Date(now.getTime() + second * 1000).toISOString()
const done = (id: string, seconds: number, ramMb = 1024): Entry => ({
  id,
  state: 'Done',
  ramMb,
  startedAt: at(-seconds),
  finishedAt: at(0)
})
const waiting = (id: string, ramMb = 1024): Entry => ({ id, state: 'Waiting', ramMb })
const mebibyte = 2 ** 20

t.test('EV-26: nothing to do has no end to come; before the first move it is a guess', async t => {
  t.equal(estimate([done('a', 10)], 4, now), undefined)
  t.match(estimate([waiting('a')], 4, now), { confidence: 'low' })
})

t.test('EV-26: the longest lane, by the rate that was observed', async t => {
  const moved = [done('a', 10), done('b', 10)]
  const eta = estimate([...moved, waiting('c'), waiting('d'), waiting('e')], 2, now)
  t.equal(secondsTo(eta), 24, 'two rounds of 10 s and 2 s around each')
  t.equal(eta?.confidence, 'high')
  t.equal(secondsTo(estimate([...moved, waiting('c', 2048)], 2, now)), 22, 'twice the memory takes twice as long')
  t.match(estimate([done('a', 10), done('b', 40), waiting('c')], 2, now), { confidence: 'medium' }, 'one was not like the other')
  t.match(
    estimate([...moved, { ...waiting('c'), reason: 'NoCapacity' }], 2, now),
    { confidence: 'low' },
    'nobody knows when there is room'
  )
})

t.test('EV-26: a move under way by what its agent says, with a floor of a tenth of its rate', async t => {
  const moving: Entry = { id: 'm', state: 'Migrating', ramMb: 1024, startedAt: at(-1) }
  const live = (remaining: number, rate: number, dirty: number) =>
    new Map([['m', { remaining, bytesPerSecond: rate, dirtyBytesPerSecond: dirty }]])
  t.equal(secondsTo(estimate([moving], 1, now, live(1000 * mebibyte, 100 * mebibyte, 50 * mebibyte))), 22)
  t.equal(secondsTo(estimate([moving], 1, now, live(100 * mebibyte, 100 * mebibyte, 500 * mebibyte))), 12, 'the floor')
})

t.test('EV-18: bytes that do not get fewer for 150 s, while the guest writes as fast as is copied', async t => {
  const memory = createMemory()
  const seen = (remaining: number, second: number, dirtyBytesPerSecond = 20) => [
    ...learnStalls(memory, new Map([['s', { remaining, bytesPerSecond: 10, dirtyBytesPerSecond }]]), second * 1000)
  ]
  t.strictSame(seen(100, 0), [])
  t.strictSame(seen(100, 140), [])
  t.strictSame(seen(99, 149), [], 'it got a little further')
  t.strictSame(seen(120, 298), [])
  t.strictSame(seen(120, 300), ['s'])
  t.strictSame(seen(120, 301, 5), [], 'it is copied faster than it is written')
  learnStalls(memory, new Map(), 302_000)
  t.strictSame(seen(120, 303), [], 'another move begins anew')
})

const eviction = (status?: Status): Eviction => ({
  apiVersion: 'kvm.cloud.sap/v1',
  kind: 'Eviction',
  metadata: { name: 'e', uid: 'u' },
  spec: { hypervisor: 'hv1', reason: 'fans' },
  ...(status && { status })
})
const status = (instances: Entry[], more: Partial<Status> = {}): Status => ({
  outstandingRamMb: 0,
  startedAt: at(0),
  instances,
  progress: { total: instances.length, done: 0 },
  ...more
})
const types = (before: Status | undefined, after: Status) =>
  newsOf(eviction(before), after).events.map(({ kind, id }) => `${kind.type.split('.').slice(-3, -1).join('.')} ${id}`)

t.test('EV-27: started, moved, blocked, finished; each once, with an id made of the fact', async t => {
  const first = status([waiting('a'), waiting('b')])
  const run = `u/${at(0)}`
  t.strictSame(types(undefined, first), [`eviction.started ${run}/started`])
  t.strictSame(types(first, first), [], 'a repeated pass has no news')
  const second = status([
    { ...done('a', 5), destination: 'hv2' },
    { ...waiting('b'), state: 'Blocked', reason: 'Rescue', message: 'why' }
  ])
  t.strictSame(types(first, second), [`server.moved ${run}/a/moved`, `server.blocked ${run}/b/blocked`])
  const over = { ...second, verdict: 'Incomplete' as const }
  t.strictSame(types(second, over), [`eviction.finished ${run}/Incomplete`])
  const { events, happenings } = newsOf(eviction(second), over)
  t.strictSame(events[0]?.data, {
    eviction: 'e',
    host: 'hv1',
    verdict: 'Incomplete',
    servers: [
      { id: 'a', state: 'Done' },
      { id: 'b', state: 'Blocked', reason: 'Rescue' }
    ]
  })
  matchWhole(t, happenings, [{ type: 'Warning', reason: 'Incomplete' }])
  matchWhole(t, newsOf(eviction(first), second).happenings, [
    { type: 'Warning', reason: 'Rescue', note: 'Server b cannot be moved: why' }
  ])
  const again = { ...first, retryToken: 'x' }
  t.strictSame(types(over, again), [`eviction.started ${run}/x/started`], 'a retry in the same second is another run')
})

t.test('EV-18: a copy that does not converge is told once', async t => {
  const moving: Entry = { id: 'a', state: 'Migrating', reason: 'Running' }
  const stalled: Entry = { ...moving, reason: 'NotConverging', message: 'no end' }
  matchWhole(t, newsOf(eviction(status([moving])), status([stalled])).happenings, [
    { type: 'Warning', reason: 'NotConverging', note: 'Server a: no end' }
  ])
  t.strictSame(newsOf(eviction(status([stalled])), status([stalled])).happenings, [])
})

t.test('EV-18: … and shows in its entry while the move is watched', async t => {
  const drained = await drain()
  t.teardown(() => drained.close())
  drained.fake.host('hv1').liveMoveMs = 3_600_000
  const { id } = drained.fake.addServer({ name: 'busy', host: 'hv1' })
  const progress = new Map([[id, { remaining: 100, bytesPerSecond: 10, dirtyBytesPerSecond: 50 }]])
  const deps = { ...drained.deps, progress }
  for (let pass = 0; pass < 20; pass++) {
    await drained.pass({ deps })
    drained.clock.advance(15_000)
  }
  t.match(drained.entry(id), { state: 'Migrating', reason: 'NotConverging', message: /as fast as it is copied/ })
})

t.test('EV-26: bytes of a server are what its move copied, else the memory of its flavor', async t => {
  const drained = await drain()
  t.teardown(() => drained.close())
  const [told, untold, late] = ['told', 'untold', 'late'].map(name => drained.fake.addServer({ name, host: 'hv1' }).id)
  const copied = new Map([[told ?? '', 3 * mebibyte]])
  drained.deps = { ...drained.deps, copied }
  await drained.run()
  t.equal(drained.entry(told ?? '')?.bytes, 3 * mebibyte)
  t.equal(drained.entry(untold ?? '')?.bytes, undefined)
  t.match(drained.eviction.status?.progress, { bytesTotal: (3 + 64 + 64) * mebibyte, bytesDone: (3 + 64 + 64) * mebibyte })
  copied.set(late ?? '', 5 * mebibyte)
  await drained.pass()
  t.equal(drained.entry(late ?? '')?.bytes, 5 * mebibyte, "the agent's last word may come after Nova's")
})

t.test('HV-64: servers by state while it runs, moves as they end, nothing of a host that is done', async t => {
  const registry = new Registry()
  const measure = evictMetrics(registry)
  const valueOf = async (name: string, labels: object) =>
    (await registry.getSingleMetric(name)?.get())?.values.find(value =>
      Object.entries(labels).every(([key, want]) => value.labels[key] === want)
    )?.value
  const before = status([{ ...waiting('a'), state: 'Migrating' }, waiting('b')])
  const counts = { total: 2, done: 1, running: 0, waiting: 1, failed: 0, blocked: 0 }
  const after = status([{ ...done('a', 8), strategy: 'live' }, waiting('b')], {
    progress: counts,
    eta: at(90)
  })
  measure('hv1', before, after, now)
  t.equal(await valueOf('drover_eviction_servers', { host: 'hv1', state: 'waiting' }), 1)
  t.equal(await valueOf('drover_moves_total', { state: 'Done' }), 1)
  t.equal(await valueOf('drover_eviction_seconds_left', { host: 'hv1' }), 90)
  t.match(await registry.metrics(), /drover_move_seconds_sum\{strategy="live"\} 8/)
  measure('hv1', after, after, now)
  t.equal(await valueOf('drover_moves_total', { state: 'Done' }), 1, 'counted once')
  measure('hv1', after, { ...after, verdict: 'Succeeded' }, now)
  t.equal(await valueOf('drover_eviction_servers', { host: 'hv1' }), undefined)
  t.equal(await valueOf('drover_eviction_seconds_left', { host: 'hv1' }), undefined)
})
