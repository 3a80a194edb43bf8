// Long, since it is a list of rows: what the real Nova of these tests cannot be made to show, each with the place in Nova's source.
// Its moves are unlimited and its fake driver never fails in the middle, a call to a dead nova-compute takes it a minute, and nobody
// can hold two requests at the same instant.
import type { Test } from 'tap'
import { type Cloud, connect, type Migration } from 'openstack-sdk-lite'
import { type FakeOpenStack, type FakeOptions, type ManualClock, manualClock } from '../../../shared/local/openstack/index.ts'
import { fakeOpenStack, passwordOf } from '../fake.ts'
import { refused } from './scene.ts'

interface Stage {
  fake: FakeOpenStack
  cloud: Cloud
  clock: ManualClock
  /** ids of new servers on the host */
  servers: (host: string, count: number) => string[]
  /** [status of the newest record, status and task of the server, its host] */
  seen: (id: string) => Promise<(string | null | undefined)[]>
  latest: (id: string) => Promise<Migration | undefined>
}

async function stage(t: Test, options: FakeOptions = {}): Promise<Stage> {
  const clock = manualClock(Math.floor(Date.now() / 1000) * 1000) // the client judges its token by the real clock
  const fake = await fakeOpenStack(t, { hosts: ['a', 'b', 'c'], clock, ...options })
  const cloud = await connect(passwordOf(fake))
  t.teardown(() => cloud.close())
  fake.host('a').liveMoveMs = 60_000
  const latest = async (id: string) => (await cloud.migrations.list({ server: id }))[0]
  return {
    fake,
    cloud,
    clock,
    servers: (host, count) => Array.from({ length: count }, (_, at) => fake.addServer({ name: `s${at}`, host }).id),
    latest,
    async seen(id) {
      const server = await cloud.servers.get(id)
      return [(await latest(id))?.status, server?.status, server?.taskState, server?.host]
    }
  }
}

export async function fakeOnly(t: Test): Promise<void> {
  // compute/manager.py: _init_instance, _reset_live_migration
  await t.test('EV-12a: the source dies: what ran ends with its next start, what queued never does', async t => {
    const { fake, cloud, clock, servers, seen } = await stage(t)
    fake.host('a').liveMoveLimit = 1
    const [first = '', second = ''] = servers('a', 2)
    for (const id of [first, second]) await cloud.servers.liveMigrate(id, 'b')
    clock.advance(1000)
    fake.killAgent('a')
    clock.advance(600_000)
    t.strictSame(await seen(first), ['running', 'MIGRATING', 'migrating', 'a'])
    t.strictSame(await seen(second), ['queued', 'MIGRATING', 'migrating', 'a'])
    fake.startAgent('a')
    clock.advance(600_000)
    t.strictSame(await seen(first), ['error', 'ACTIVE', null, 'a'])
    t.strictSame(await seen(second), ['queued', 'ACTIVE', null, 'a'], 'open for ever')
    const [dead] = await cloud.migrations.running(second)
    t.equal(dead?.status, 'queued')
    await refused(t, 'it cannot be aborted', cloud.migrations.abort(second, dead?.id ?? 0), 409, 'Conflict', /invalid state/)
    await cloud.servers.liveMigrate(second, 'b')
    clock.advance(600_000)
    t.strictSame(await seen(second), ['completed', 'ACTIVE', null, 'b'], 'another move is none the worse for it')
    t.equal((await cloud.migrations.list({ server: second })).at(-1)?.status, 'queued')
  })

  // compute/manager.py: cleanup_host, _cleanup_live_migrations_in_pool
  await t.test('an orderly end cancels what queues and leaves its server migrating', async t => {
    const { fake, cloud, clock, servers, seen } = await stage(t)
    fake.host('a').liveMoveLimit = 1
    const [first = '', second = ''] = servers('a', 2)
    for (const id of [first, second]) await cloud.servers.liveMigrate(id, 'b')
    clock.advance(1000)
    fake.stopAgent('a')
    t.strictSame(await seen(second), ['cancelled', 'MIGRATING', 'migrating', 'a'])
    fake.startAgent('a')
    t.strictSame(await seen(second), ['cancelled', 'ACTIVE', null, 'a'])
  })

  // conductor/tasks/live_migrate.py: _call_livem_checks_on_host; conductor/manager.py: _live_migrate, its last except
  await t.test('a source that is dead and not down yet: the server ends in ERROR', async t => {
    const { fake, cloud, clock, servers, seen } = await stage(t)
    const [id = ''] = servers('a', 1)
    fake.killAgent('a')
    await cloud.servers.liveMigrate(id)
    clock.advance(59_000)
    t.strictSame(await seen(id), ['accepted', 'MIGRATING', 'migrating', 'a'])
    clock.advance(2000)
    t.strictSame(await seen(id), ['error', 'ERROR', null, 'a'])
    t.strictSame(Object.keys(await cloud.allocations.get(id)), [fake.host('a').id])
  })

  // compute/manager.py: _do_pre_live_migration_from_source; _post_live_migration_update_host (2023.1)
  await t.test('a destination that dies: before the copy the move fails, after it the server is there, in ERROR', async t => {
    const { fake, cloud, clock, servers, seen } = await stage(t, { pace: { call: 5000 } })
    const [early = '', late = ''] = servers('a', 2)
    await cloud.servers.liveMigrate(late, 'b')
    clock.advance(1000)
    fake.killAgent('b')
    await cloud.servers.liveMigrate(early, 'b')
    clock.advance(6000)
    t.strictSame(
      await seen(early),
      ['error', 'ACTIVE', null, 'a'],
      'no answer to the conductor: the next host, and there is none'
    )
    clock.advance(66_000)
    t.strictSame(await seen(late), ['error', 'ERROR', null, 'b'])
  })

  // compute/manager.py: _resize_instance, _finish_resize, _init_instance
  await t.test('a cold move stays where its nova-compute died', async t => {
    const { fake, cloud, clock, servers, seen } = await stage(t, { pace: { coldMove: 5000, settle: 5000 } })
    const [source = '', target = ''] = servers('a', 2)
    await cloud.servers.migrate(target, 'b')
    clock.advance(6000)
    t.strictSame(await seen(target), ['post-migrating', 'RESIZE', 'resize_finish', 'b'], 'it belongs to the destination already')
    fake.killAgent('b')
    await cloud.servers.migrate(source, 'c')
    clock.advance(1000)
    t.strictSame(await seen(source), ['migrating', 'RESIZE', 'resize_migrating', 'a'])
    fake.killAgent('a')
    clock.advance(600_000)
    for (const host of ['a', 'b']) fake.startAgent(host)
    clock.advance(600_000)
    t.strictSame(await seen(source), ['migrating', 'ACTIVE', null, 'a'], 'the task is cleared, the record is not')
    t.strictSame(await seen(target), ['post-migrating', 'RESIZE', 'resize_finish', 'b'], 'nothing is settled here')
  })

  // compute/manager.py: _destroy_evacuated_instances, _init_instance
  await t.test('HA-43: the destination dies while it rebuilds: no start of any nova-compute helps the server', async t => {
    const { fake, cloud, clock, servers, seen } = await stage(t, { pace: { evacuate: 5000 } })
    const [id = ''] = servers('a', 1)
    fake.killAgent('a')
    clock.advance(61_000)
    await cloud.servers.evacuate(id, 'b')
    clock.advance(1000)
    t.strictSame(await seen(id), ['pre-migrating', 'REBUILD', 'rebuilding', 'a'])
    fake.killAgent('b')
    for (const host of ['b', 'a']) fake.startAgent(host)
    clock.advance(600_000)
    t.strictSame(await seen(id), ['completed', 'REBUILD', 'rebuilding', 'a'])
    t.strictSame(Object.keys(await cloud.allocations.get(id)), [fake.host('b').id], 'its booking here is gone, too')
  })

  // compute/manager.py: _init_instance (the driver of the real one forgets its guests and then has nothing to stop); compute/api.py: _delete
  await t.test(
    'what was asked of a dead nova-compute waits for the next; a deletion does not once the service is down',
    async t => {
      const { fake, cloud, clock, servers, seen } = await stage(t, { pace: { power: 1000, remove: 1000 } })
      const [rebooting = '', suspending = '', deleted = '', local = ''] = servers('a', 4)
      await cloud.servers.reboot(rebooting, 'HARD')
      await cloud.servers.suspend(suspending)
      clock.advance(500)
      fake.killAgent('a')
      await cloud.servers.delete(deleted)
      clock.advance(61_000)
      t.strictSame(await seen(rebooting), [undefined, 'HARD_REBOOT', 'rebooting_hard', 'a'])
      t.match(await cloud.servers.get(deleted), { taskState: 'deleting' }, 'it was not down yet')
      await cloud.servers.delete(local)
      clock.advance(1000)
      t.equal(await cloud.servers.get(local), undefined)
      fake.startAgent('a')
      clock.advance(60_000)
      t.strictSame(await seen(rebooting), [undefined, 'ACTIVE', null, 'a'], 'begun again')
      t.equal(await cloud.servers.get(deleted), undefined)
      t.strictSame(await seen(suspending), [undefined, 'ACTIVE', 'suspending', 'a'], 'not everything is')
    }
  )

  // compute/manager.py: rebuild_instance, its except for ComputeResourcesUnavailable
  await t.test('an evacuation without a claim fails once and for all; the server is as it was', async t => {
    const { fake, cloud, clock, servers, seen } = await stage(t)
    const [id = ''] = servers('a', 1)
    fake.killAgent('a')
    fake.host('b').claimsFail = true
    clock.advance(61_000)
    await cloud.servers.evacuate(id, 'b')
    clock.advance(1000)
    t.strictSame(await seen(id), ['failed', 'ACTIVE', null, 'a'])
    t.strictSame(Object.keys(await cloud.allocations.get(id)), [fake.host('a').id])
  })

  await t.test('a move that runs becomes slower and faster with its host', async t => {
    const { fake, cloud, clock, servers, seen } = await stage(t)
    const [id = ''] = servers('a', 1)
    await cloud.servers.liveMigrate(id, 'b')
    clock.advance(50_000)
    fake.host('a').liveMoveMs = 3_600_000
    clock.advance(600_000)
    t.strictSame(await seen(id), ['running', 'MIGRATING', 'migrating', 'a'])
    fake.host('a').liveMoveMs = 100
    clock.advance(3000)
    t.strictSame(await seen(id), ['completed', 'ACTIVE', null, 'b'])
  })

  // conductor/tasks/live_migrate.py: _find_destination; compute/manager.py: _reschedule_resize_or_reraise, _do_build_and_run_instance
  await t.test('another was faster: moves and builds try the next host, and end when there is none', async t => {
    const { fake, cloud, clock, servers, seen } = await stage(t)
    fake.host('a').liveMoveMs = 100
    const [live = '', cold = '', none = ''] = servers('a', 3)
    fake.host('b').claimsFail = true
    await cloud.servers.liveMigrate(live)
    await cloud.servers.migrate(cold)
    clock.advance(60_000)
    t.strictSame(await seen(live), ['completed', 'ACTIVE', null, 'c'])
    t.strictSame(await seen(cold), ['finished', 'VERIFY_RESIZE', null, 'c'])
    fake.host('c').claimsFail = true
    await cloud.servers.migrate(none)
    const wanted = { name: 'new', host: 'c', flavorId: '1', imageId: 'none', networks: 'none' } as const
    const { id } = await cloud.servers.create(wanted)
    clock.advance(60_000)
    t.strictSame(await seen(none), ['error', 'ACTIVE', null, 'a'])
    t.match(await cloud.servers.get(id), { status: 'ERROR', host: null, fault: { message: /maximum number of retries/ } })
    t.strictSame(await cloud.allocations.get(id), {})
  })

  // compute/manager.py: _validate_instance_group_policy, called by check_can_live_migrate_destination
  await t.test('two of a group on their way to one host: the later one is refused at the last moment', async t => {
    const { fake, cloud, clock, servers, seen } = await stage(t)
    fake.world.groups.set('g', { id: 'g', name: 'apart', policy: 'anti-affinity' })
    const [[one = ''], [two = '']] = [servers('a', 1), servers('c', 1)]
    for (const id of [one, two]) fake.world.instances.get(id)?.groups.push('g')
    for (const id of [one, two]) await cloud.servers.liveMigrate(id, 'b')
    clock.advance(1000)
    t.strictSame(await seen(one), ['running', 'MIGRATING', 'migrating', 'a'])
    t.strictSame(await seen(two), ['error', 'ACTIVE', null, 'c'])
  })

  // compute/api.py: HostAPI._update_compute_provider_status; compute/manager.py: _update_compute_provider_status
  await t.test(
    'COMPUTE_STATUS_DISABLED: the call for it may fail; the API says 200, the trait comes with the next audit',
    async t => {
      const { fake, cloud, clock } = await stage(t)
      const { id, serviceId } = fake.host('a')
      const has = async () => (await cloud.resourceProviders.traits(id)).traits.includes('COMPUTE_STATUS_DISABLED')
      fake.host('a').traitCallFails = true
      t.match(await cloud.services.update(serviceId ?? '', { status: 'disabled' }), { status: 'disabled' })
      t.equal(await has(), false)
      clock.advance(60_000)
      t.equal(await has(), true)
      fake.killAgent('a')
      t.match(await cloud.services.update(serviceId ?? '', { status: 'enabled' }), { status: 'enabled', state: 'up' })
      clock.advance(600_000)
      t.equal(await has(), true, 'of a nova-compute that is dead nothing comes')
      fake.startAgent('a')
      t.equal(await has(), false)
    }
  )

  // virt/libvirt/driver.py: live_migration_abort lets libvirt's refusal through; compute/manager.py: live_migration_abort
  await t.test('an abort is heard (202) and may come to nothing', async t => {
    const { fake, cloud, clock, servers, seen, latest } = await stage(t)
    const [id = ''] = servers('a', 1)
    await cloud.servers.liveMigrate(id, 'b')
    clock.advance(1000)
    fake.host('a').movesObeyNobody = true
    const record = (await latest(id))?.id ?? 0
    await cloud.migrations.abort(id, record)
    await cloud.migrations.forceComplete(id, record)
    clock.advance(1000)
    t.strictSame(await seen(id), ['running', 'MIGRATING', 'migrating', 'a'])
    const [forced, aborted] = await cloud.instanceActions.list(id)
    t.match([forced, aborted], [{ action: 'live_migration_force_complete', message: 'Error' }, { message: 'Error' }])
    const { steps } = await cloud.instanceActions.get(id, aborted?.requestId ?? '')
    t.match(steps, [{ event: 'compute_live_migration_abort', result: 'Error', host: 'a' }])
    clock.advance(60_000)
    t.strictSame(await seen(id), ['completed', 'ACTIVE', null, 'b'])
  })

  // scheduler/client/report.py: _remove_allocations_for_evacuated_instances
  await t.test('HV-55: a service that never came back takes the bookings of evacuated servers with it', async t => {
    const { fake, cloud, clock, servers } = await stage(t)
    const [id = ''] = servers('a', 1)
    const { id: provider, serviceId } = fake.host('a')
    fake.killAgent('a')
    clock.advance(61_000)
    await cloud.servers.evacuate(id, 'b')
    clock.advance(1000)
    t.equal(await cloud.services.delete(serviceId ?? ''), 'deleted')
    t.equal(await cloud.resourceProviders.get(provider), undefined)
    t.strictSame(Object.keys(await cloud.allocations.get(id)), [fake.host('b').id])
  })

  // api/openstack/compute/rest_api_version_history.rst, 2.95 (the real one here ends at 2.93); the cloud's clock is NTP's business
  await t.test('HA-32: from 2.95 on an evacuated server stays stopped; times are those of the cloud', async t => {
    const aheadMs = 90_000
    const { fake, cloud, clock, servers } = await stage(t, { aheadMs })
    const [id = ''] = servers('a', 1)
    const [service] = await cloud.services.list({ host: 'a' })
    t.equal(Date.parse(`${service?.updated}Z`), Math.floor((clock.now() + aheadMs) / 1000) * 1000)
    fake.host('a').forcedDown = true
    const { headers, authUrl } = {
      headers: { 'x-auth-token': fake.tokens.issue('password', '', false).id },
      authUrl: fake.authUrl
    }
    const newer = { ...headers, 'openstack-api-version': 'compute 2.95', 'content-type': 'application/json' }
    const url = authUrl.replace('/identity/v3', `/compute/v2.1/servers/${id}/action`)
    const { status } = await fetch(url, { method: 'POST', headers: newer, body: JSON.stringify({ evacuate: {} }) })
    t.equal(status, 200)
    clock.advance(1000)
    t.match(await cloud.servers.get(id), { status: 'SHUTOFF', powerState: 4 })
  })
}
