// How an Eviction ends: EV-11, EV-12, EV-17, EV-20…EV-24, EV-27, on the behaving OpenStack with time in our hands.
import t from 'tap'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { fillUp, left, minuteMs, scene, told, underWay } from './scene.ts'

t.setTimeout(110_000)

t.test('EV-20: a host that dies in the middle: nothing is started, HostDown is shown, a rescue ends the drain', async t => {
  const drained = await scene(t, 4, { maxParallel: 1 })
  await underWay(drained)
  drained.fake.stopAgent('hv1')
  const moves = drained.fake.world.migrations.length
  drained.clock.advance(2 * minuteMs)
  await drained.run(20 * minuteMs)
  t.equal(drained.fake.world.migrations.length, moves, 'no endless attempts')
  t.match(drained.eviction.status, { waitingFor: /HostDown/ })
  t.equal(drained.eviction.status?.verdict, undefined)
  const rescue = { name: 'rescue', hypervisor: 'hv1', mode: 'evacuate' as const, created: '', zone: 'nova', destinations: [] }
  await drained.pass({ peers: [rescue] })
  t.match(drained.eviction.status, { verdict: 'Failed' })
  t.match(told(drained, 'Evicting'), { status: 'False', reason: 'Failed', message: /HostDown/ })
})

t.test('EV-27, mode evacuate: servers of a dead host are rescued; Nova counts it as up: refused', async t => {
  const drained = await scene(t, 3, { mode: 'evacuate' })
  await drained.pass()
  await drained.pass()
  t.match(drained.eviction.status, { phase: 'Preflight', waitingFor: /counts the host as up/ })
  drained.fake.stopAgent('hv1')
  Object.assign(drained.fake.host('hv1'), { forcedDown: true })
  const { verdict, instances = [] } = await drained.run()
  t.equal(verdict, 'Succeeded')
  t.strictSame([...new Set(instances.map(({ state, strategy }) => `${state} ${strategy}`))], ['Done evacuate'])
  t.strictSame(left(drained), [])
})

t.test('EV-22, HV-46: who arrives late is moved too; a server on a host that was called empty begins it anew', async t => {
  const drained = await scene(t, 1)
  await underWay(drained)
  const late = drained.fake.addServer({ name: 'late', host: 'hv1' })
  await drained.pass()
  t.match(drained.entry(late.id), { reason: /Arrived|Asked/ })
  t.equal((await drained.run()).verdict, 'Succeeded')
  t.equal(drained.eviction.status?.outstandingRamMb, 0)
  const again = drained.fake.addServer({ name: 'again', host: 'hv1' })
  drained.clock.advance(minuteMs)
  await drained.pass()
  matchWhole(t, drained.eviction.status, { outstandingInstances: [again.id], outstandingRamMb: 64 })
  t.equal(drained.eviction.status?.verdict, undefined)
  t.equal((await drained.run()).verdict, 'Succeeded')
})

t.test('EV-23: a domain that libvirt still runs keeps the host from being called empty', async t => {
  const drained = await scene(t, 1)
  const [id = ''] = drained.ids
  const said = (active: boolean) => {
    const status = {
      ...drained.hypervisor.status,
      instances: [{ id, name: 'ghost', active }],
      agent: { lastHeartbeat: new Date(drained.clock.now()).toISOString() }
    }
    drained.hypervisor = { ...drained.hypervisor, status } as Hypervisor
  }
  for (let minute = 0; minute < 5; minute++) {
    said(true)
    await drained.run(minuteMs)
  }
  t.strictSame(left(drained), [])
  t.match(drained.entry(id), { state: 'Blocked', reason: 'DomainStillRunning' })
  t.equal(drained.eviction.status?.verdict, 'Incomplete')
  said(false)
  for (let at = 0; at < 20 && drained.eviction.status?.verdict !== 'Succeeded'; at++) {
    drained.clock.advance(2000)
    await drained.pass()
  }
  t.equal(drained.eviction.status?.verdict, 'Succeeded', 'EV-24: an Incomplete one is still watched')
  t.match(
    drained.eviction.status?.preflight?.find(({ check }) => check === 'leftovers'),
    { result: 'Warn', message: new RegExp(id) },
    'what is only defined is told'
  )
})

t.test('EV-11, EV-12: no room is not counted and retried; other failures are counted', async t => {
  const drained = await scene(t, 1)
  const [id = ''] = drained.ids
  const freeUp = fillUp(drained)
  await drained.run(5 * minuteMs)
  t.match(drained.entry(id), { state: 'Waiting', reason: 'NoCapacity', attempts: 0, message: /No valid host|no host with room/ })
  freeUp()
  t.equal((await drained.run(10 * minuteMs)).verdict, 'Succeeded')
  const failing = await scene(t, 1)
  failing.fake.host('hv1').liveMoveFails = true
  const { verdict } = await failing.run()
  t.equal(verdict, 'Incomplete')
  t.match(failing.entry(failing.ids[0] ?? ''), { state: 'Failed', reason: 'MoveFailed', attempts: 3 })
})

t.test('EV-17: a cold move that Nova does not let be confirmed', async t => {
  const drained = await scene(t, 1, { strategy: 'cold' }, { pace: { coldMove: 3000 } })
  for (let at = 0; at < 20 && drained.fake.world.migrations.length === 0; at++) {
    await drained.pass()
    drained.clock.advance(500)
  }
  drained.fake.faults.add({ service: 'compute', method: 'POST', effect: { answer: { status: 500 } } })
  await drained.run(10 * minuteMs)
  t.match(drained.entry(drained.ids[0] ?? ''), { state: 'Failed', reason: 'ConfirmFailed', confirmFailures: 3 })
})

t.test('401, 403: the whole eviction waits for its rights', async t => {
  const drained = await scene(t, 2)
  drained.fake.faults.add({ service: 'compute', method: 'POST', effect: { answer: { status: 403 } } })
  await drained.run(minuteMs)
  t.match(drained.eviction.status, { waitingFor: /^rights in OpenStack/ })
  t.equal(drained.eviction.status?.verdict, undefined)
})
