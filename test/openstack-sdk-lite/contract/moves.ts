import type { Cloud, Migration } from 'openstack-sdk-lite'
import { nowhere, type Part, refused } from './scene.ts'
import { boot, remove, settled, until } from './target.ts'

const latest = async (cloud: Cloud, server: string): Promise<Migration | undefined> =>
  (await cloud.migrations.list({ server }))[0]
const ended = (cloud: Cloud, server: string, status: string): Promise<Migration | undefined> =>
  until(
    `the move to be ${status}`,
    () => latest(cloud, server),
    record => record?.status === status
  )

export const moves: Part = async (t, scene) => {
  t.jobs = 2 // live and cold moves do not meet
  await Promise.all([
    t.test('live', { buffered: true }, t => live(t, scene)),
    t.test('cold', { buffered: true }, t => cold(t, scene))
  ])
  await t.test('nowhere to go', t => lonely(t, scene))
  for (const host of scene.target.hosts) await scene.target.setLiveMove(host, undefined)
}

const live: Part = async (t, { cloud, target }) => {
  const [one, two] = target.hosts
  const running = async (id: string) => {
    const [record] = await until(
      'a running move',
      () => cloud.migrations.running(id),
      ([record]) => record?.status === 'running'
    )
    if (!record) throw new Error('no record')
    return record
  }

  await t.test('C14, C13: a live move, asked for and then done', async t => {
    await target.setLiveMove(one, 0.2)
    const { id } = await boot(cloud, target, 'contract-live', one)
    await cloud.servers.liveMigrate(id, two)
    await refused(t, 'busy', cloud.servers.liveMigrate(id), 409, 'Conflict', /task_state migrating/)
    const record = await ended(cloud, id, 'completed')
    t.match(record, { type: 'live-migration', source: one, target: two, server: id })
    const moved = await settled(cloud, id, 'ACTIVE')
    t.equal(moved.host, two)
    const [hypervisor] = await cloud.hypervisors.search(two)
    t.strictSame(Object.keys(await cloud.allocations.get(id)), [hypervisor?.id], 'nothing is left behind in Placement')

    for (const host of [one, two])
      t.ok(
        (await cloud.migrations.list({ host, status: 'completed' })).some(({ server }) => server === id),
        `by ${host}`
      )
    t.ok((await cloud.migrations.list({ source: one, type: 'live-migration' })).some(({ server }) => server === id))
    t.strictSame(
      (await cloud.migrations.list({ source: two, type: 'live-migration' })).filter(({ server }) => server === id),
      []
    )
    t.strictSame(await cloud.migrations.running(id), [], 'C17: nothing under way')

    await refused(t, 'no such host', cloud.servers.liveMigrate(id, 'no-such-host'), 400, 'BadRequest', /could not be found/)
    await refused(t, 'no such server', cloud.servers.liveMigrate(nowhere), 404, 'NotFound', /could not be found/)
    await cloud.servers.liveMigrate(id, two)
    await ended(cloud, id, 'error')
    t.equal((await settled(cloud, id, 'ACTIVE')).host, two, 'to where it is: heard (202), then an error (EV-11)')
    const [action] = await cloud.instanceActions.list(id)
    t.match(action, { action: 'live-migration', message: 'Error' })
    const { steps } = await cloud.instanceActions.get(id, action?.requestId ?? '')
    t.match(steps, [{ event: 'conductor_live_migrate_instance', result: 'Error', details: /No valid host/ }], 'C18: why')
    const pages = await cloud.migrations.list({ server: id, pageSize: 1 })
    t.strictSame(
      pages.map(({ status }) => status),
      ['error', 'completed'],
      'C13: page by page, the newest first'
    )
    await remove(cloud, id)
  })

  await t.test('C14: a live move that fails leaves the server where it was', async t => {
    await target.setLiveMove(one, 'fail')
    const { id } = await boot(cloud, target, 'contract-fail', one)
    await cloud.servers.liveMigrate(id)
    t.match(await ended(cloud, id, 'failed'), { source: one })
    t.equal((await settled(cloud, id, 'ACTIVE')).host, one)
    const [hypervisor] = await cloud.hypervisors.search(one)
    await until(
      'its allocations to be at home',
      () => cloud.allocations.get(id),
      found => Object.keys(found).join() === hypervisor?.id
    )
    await remove(cloud, id)
  })

  await t.test('C17, C16, C20: a long move is watched, aborted, and another one forced to its end', async t => {
    await target.setLiveMove(one, 60)
    const { id } = await boot(cloud, target, 'contract-long', one)
    await refused(
      t,
      'nothing to abort',
      cloud.migrations.abort(id, 1),
      409,
      'Conflict',
      /invalid state for 'abort live migration'/
    )
    await refused(
      t,
      'nothing to force',
      cloud.migrations.forceComplete(id, 1),
      409,
      'Conflict',
      /invalid state for 'force_complete'/
    )
    await cloud.servers.liveMigrate(id)
    const first = await running(id)
    t.match(first, { server: id, source: one, target: String })
    await refused(t, 'another number', cloud.migrations.abort(id, 999_999), 404, 'NotFound', /not found/i)
    await cloud.migrations.abort(id, first.id)
    await ended(cloud, id, 'cancelled')
    t.equal((await settled(cloud, id, 'ACTIVE')).host, one)
    await cloud.servers.liveMigrate(id, two)
    const second = await running(id)
    await cloud.migrations.forceComplete(id, second.id)
    await ended(cloud, id, 'completed')
    t.equal((await settled(cloud, id, 'ACTIVE')).host, two)
    await remove(cloud, id)
    await refused(t, 'C17 of a deleted one', cloud.migrations.running(id), 404, 'NotFound', /could not be found/)
    await refused(t, 'C16 of a deleted one', cloud.migrations.abort(id, second.id), 404, 'NotFound', /could not be found/)
  })
}

const cold: Part = async (t, { cloud, target, raw }) => {
  const [one, two] = target.hosts

  await t.test('C15, C19: a cold move waits to be confirmed', async t => {
    const { id } = await boot(cloud, target, 'contract-cold', one)
    await refused(t, 'nothing to confirm', cloud.servers.confirmResize(id), 409, 'Conflict', /vm_state active/)
    await refused(t, 'to itself', cloud.servers.migrate(id, one), 400, 'BadRequest', /where the server exists/)
    await refused(t, 'to nowhere', cloud.servers.migrate(id, 'no-such-host'), 400, 'BadRequest', /could not be found/)
    await cloud.servers.migrate(id, two)
    t.match(await settled(cloud, id, 'VERIFY_RESIZE'), { host: two, vmState: 'resized' })
    t.match(await latest(cloud, id), { type: 'migration', status: 'finished', source: one, target: two })
    await refused(t, 'live', cloud.servers.liveMigrate(id), 409, 'Conflict', /vm_state resized/)
    await cloud.servers.confirmResize(id)
    await ended(cloud, id, 'confirmed')
    await settled(cloud, id, 'ACTIVE')

    t.match(await raw('compute', 'POST', `/servers/${id}/action`, { 'os-stop': null }), { status: 202 })
    await settled(cloud, id, 'SHUTOFF')
    await cloud.servers.migrate(id, one)
    await settled(cloud, id, 'VERIFY_RESIZE')
    await cloud.servers.confirmResize(id)
    t.match(await settled(cloud, id, 'SHUTOFF'), { host: one }, 'a stopped one stays stopped')
    await remove(cloud, id)
  })
}

const lonely: Part = async (t, { cloud, target }) => {
  const [one, two] = target.hosts

  await t.test('C14, C15: no host can take it: 202 all the same, the truth comes later (EV-11)', async t => {
    const { id } = await boot(cloud, target, 'contract-none', one)
    const others = (await cloud.services.list({ binary: 'nova-compute' })).filter(({ host }) => host !== one)
    for (const { id } of others) await cloud.services.update(id, { status: 'disabled', disabledReason: 'drover: contract' })
    await cloud.servers.liveMigrate(id)
    t.match(await ended(cloud, id, 'error'), { type: 'live-migration', target: null })
    t.match(await settled(cloud, id, 'ACTIVE'), { host: one })
    await cloud.servers.migrate(id)
    const cold = await until(
      'the cold move',
      () => latest(cloud, id),
      record => record?.type === 'migration' && record.status === 'error'
    )
    t.equal(cold?.target, null)
    await settled(cloud, id, 'ACTIVE')
    const wanted = {
      name: 'contract-lost',
      host: two,
      flavorId: target.flavorId,
      imageId: target.imageId,
      networks: 'none'
    } as const
    const lost = await cloud.servers.create(wanted)
    const failed = await until(
      'it to fail',
      () => cloud.servers.get(lost.id),
      server => server?.status === 'ERROR'
    )
    t.match(failed, { host: null, fault: { code: 500, message: /No valid host/ } }, 'C7: a disabled host takes no new server')
    for (const { id } of others) await cloud.services.update(id, { status: 'enabled' })
    await remove(cloud, id, lost.id)
  })
}
