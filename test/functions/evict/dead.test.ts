// EV-12a: records that Nova never ends, because nova-compute of the source died with them.
import t from 'tap'
import type { Server } from 'openstack-sdk-lite'
import { isDead, mayBeDead } from '../../../functions/evict/dead.ts'
import type { MoveRecord } from '../../../functions/evict/records.ts'
import { open, scene, underWay } from './scene.ts'
import { ago, agoMs, minute, now, record, server } from './server.ts'

const old = record({ status: 'queued', created: ago(20), updated: ago(11) })
const settled = server({ updated: ago(11) })
const rows: Array<[name: string, record: Partial<MoveRecord>, server: Partial<Server> | undefined, dead: boolean]> = [
  ['its server is settled', {}, {}, true],
  ['its server is gone', {}, undefined, true],
  ['never touched since it was made', { updated: null }, {}, true],
  ['touched ten minutes ago', { updated: ago(10) }, undefined, false],
  ['touched a moment more than ten minutes ago', { updated: agoMs(10 * minute + 1) }, undefined, true],
  ['its server was touched ten minutes ago', {}, { updated: ago(10) }, false],
  ['its server was touched a moment before', {}, { updated: agoMs(10 * minute + 1) }, true],
  ['nobody knows when its server was touched', {}, { updated: null }, true],
  ['its server has a task', {}, { taskState: 'migrating' }, false],
  ['its cell does not answer', {}, { partial: true }, false],
  ['its server is broken', {}, { status: 'ERROR', vmState: 'error' }, true],
  ['its server is elsewhere', {}, { host: 'hv3' }, true],
  ...['MIGRATING', 'RESIZE', 'REVERT_RESIZE', 'VERIFY_RESIZE', 'BUILD', 'REBUILD', 'UNKNOWN'].map(
    (status): (typeof rows)[number] => [`its server is ${status}`, {}, { status }, false]
  ),
  ...['accepted', 'preparing', 'running', 'post-migrating', 'finished', 'confirming'].map((status): (typeof rows)[number] => [
    `Nova says ${status}`,
    { status },
    {},
    true
  ]),
  ['its confirmation was never carried out', { status: 'confirming' }, { status: 'VERIFY_RESIZE' }, true],
  ['its user has not confirmed it', { status: 'finished' }, { status: 'VERIFY_RESIZE' }, false],
  ['it has ended', { status: 'completed' }, {}, false],
  ['HA-34: a rescue', { type: 'evacuation' }, {}, false]
]
for (const [name, more, of, dead] of rows) {
  t.test(`a dead record: ${name}`, async t => {
    t.equal(isDead({ ...old, ...more }, of && { ...settled, ...of }, [old], now), dead)
    if (dead) t.equal(mayBeDead({ ...old, ...more }, now), true)
  })
}

t.test('a dead record: a newer one of its server tells, whatever the server does', async t => {
  const busy = server({ taskState: 'migrating', status: 'MIGRATING', updated: ago(0) })
  t.equal(isDead(old, busy, [record({ id: old.id + 1 }), old], now), true)
  t.equal(isDead(old, busy, [old, record({ id: old.id - 1 })], now), false, 'an older one does not')
})

t.test('nova-compute of the source dies with one move running and three queued: all four leave in the end', async t => {
  const drained = await scene(t, 4)
  const { fake, clock } = drained
  fake.host('hv1').liveMoveLimit = 1
  await underWay(drained)
  await drained.pass()
  clock.advance(1000)
  t.ok(open(drained).length > 1, 'some are queued')
  fake.killAgent('hv1')
  clock.advance(30_000)
  fake.startAgent('hv1')
  const left = open(drained)
  t.ok(left.length > 0, 'Nova leaves what was queued open')
  const begunMs = clock.now()
  const { verdict } = await drained.run()
  t.equal(verdict, 'Succeeded')
  t.ok(clock.now() - begunMs < 15 * minute, `after ${(clock.now() - begunMs) / minute} minutes`)
  const said = drained.eviction.status?.preflight?.find(({ check }) => check === 'records')
  t.match(said, {
    result: 'Warn',
    message: /^Nova never ended \d migrations? that nobody carries out, and nobody waits for: \d+ of /
  })
  t.strictSame(
    open(drained).map(({ id }) => id),
    left.map(({ id }) => id),
    'they are left as they are'
  )
})

t.test('a record of 400 days ago does not keep an empty host from being called so', async t => {
  const drained = await scene(t, 1)
  const { fake, clock } = drained
  const [id = ''] = drained.ids
  await drained.cloud.servers.liveMigrate(id, 'hv2')
  clock.advance(10)
  fake.killAgent('hv1')
  clock.advance(1000)
  fake.startAgent('hv1')
  fake.world.instances.delete(id)
  clock.advance(400 * 24 * 60 * minute)
  t.equal((await drained.run()).verdict, 'Succeeded')
})
