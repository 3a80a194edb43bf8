// How an Eviction is stopped, paused, limited and kept from servers: EV-18, EV-25, on the behaving OpenStack with time in our hands.
import t from 'tap'
import type { Eviction } from '../../../shared/schema/eviction.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import type { Drain } from './world.ts'
import { left, minuteMs, open, scene, told, underWay } from './scene.ts'

t.setTimeout(110_000)
const order = (drained: Drain, spec: Partial<Eviction['spec']>): void => {
  drained.eviction = { ...drained.eviction, spec: { ...drained.eviction.spec, ...spec } }
}

t.test('EV-25: Finish starts nothing more and waits; each server says where it is', async t => {
  const drained = await scene(t, 6, { maxParallel: 2 })
  await underWay(drained)
  const moving = open(drained).map(({ instance }) => instance.id)
  order(drained, { cancel: 'Finish' })
  const { verdict, instances = [] } = await drained.run()
  t.equal(verdict, 'Cancelled')
  t.strictSame(
    instances
      .filter(({ state }) => state === 'Done')
      .map(({ id }) => id)
      .toSorted(),
    moving.toSorted(),
    'those under way ended'
  )
  t.equal(left(drained).length, 4)
  t.match(told(drained, 'Evicting'), { status: 'False', reason: 'Cancelled' })
})

t.test('EV-25: Abort also gives up what can be given up', async t => {
  const drained = await scene(t, 6, { maxParallel: 3 })
  await underWay(drained)
  order(drained, { cancel: 'Abort' })
  t.equal((await drained.run()).verdict, 'Cancelled')
  t.equal(left(drained).length, 6, 'nobody moved')
  t.strictSame([...new Set(drained.fake.world.migrations.map(({ status }) => status))], ['cancelled'])
})

t.test('EV-25: paused starts nothing new, and goes on when it ends', async t => {
  const drained = await scene(t, 5, { maxParallel: 2 })
  await underWay(drained)
  order(drained, { paused: true })
  await drained.run(5 * minuteMs)
  t.match(drained.eviction.status, { phase: 'Draining', waitingFor: 'the pause to end' })
  t.equal(left(drained).length, 3)
  order(drained, { paused: false })
  t.equal((await drained.run()).verdict, 'Succeeded')
})

t.test('EV-25: its time is over: what moves may end, then it is Incomplete', async t => {
  const drained = await scene(t, 6, { maxParallel: 1, timeout: '15s' })
  t.equal((await drained.run()).verdict, 'Incomplete')
  t.ok(left(drained).length > 0)
  t.strictSame(open(drained), [])
})

t.test('EV-18: a move that takes too long is given up, and tried again as often as allowed', async t => {
  const drained = await scene(t, 1, { timeoutPerInstance: '1m', maxAttempts: 2 })
  drained.fake.host('hv1').liveMoveMs = 60 * minuteMs
  const { verdict, instances } = await drained.run()
  t.equal(verdict, 'Incomplete')
  matchWhole(t, instances, [{ state: 'Failed', reason: 'TimedOut', attempts: 2 }])
})

t.test('EV-18: … or forced to its end, if wanted', async t => {
  const drained = await scene(t, 1, { timeoutPerInstance: '1m', onTimeout: 'forceComplete' })
  drained.fake.host('hv1').liveMoveMs = 60 * minuteMs
  t.equal((await drained.run()).verdict, 'Succeeded')
  t.equal(drained.entry(drained.ids[0] ?? '')?.attempts, 1)
})

t.test('exclude: by id, name or metadata; they are never touched, and the host is not called empty', async t => {
  const drained = await scene(t, 2)
  const { fake } = drained
  const named = fake.addServer({ name: 'keep', host: 'hv1' })
  const marked = fake.addServer({ name: 'pinned', host: 'hv1', metadata: { stay: 'yes' } })
  const [first = ''] = drained.ids
  order(drained, { exclude: [{ id: first }, { name: 'keep' }, { metadata: { key: 'stay', value: 'yes' } }] })
  const { verdict, progress } = await drained.run()
  t.equal(verdict, 'SucceededWithExclusions')
  t.match(progress, { excluded: 3, done: 1 })
  t.strictSame(left(drained).toSorted(), [first, named.id, marked.id].toSorted())
  t.match(drained.entry(first), { state: 'Excluded' })
})
