// What Nova leaves when a nova-compute dies in the middle of something, and what its next start settles (nova/compute/manager.py, init_host).
import type { Cloud, Migration } from 'openstack-sdk-lite'
import { type Part, refused } from './scene.ts'
import { boot, remove, settled, type Target, until } from './target.ts'

export const recordIn = async (cloud: Cloud, server: string, ...statuses: string[]): Promise<Migration> => {
  const [record] = await until(
    `the move to be ${statuses.join(' or ')}`,
    () => cloud.migrations.list({ server }),
    ([record]) => record !== undefined && statuses.includes(record.status)
  )
  if (!record) throw new Error('no record')
  return record
}

/** A host of this part's own: it dies, and nobody else must meet it. */
export async function newHost(cloud: Cloud, target: Target, name: string): Promise<{ provider: string; service: string }> {
  await target.startAgent(name)
  const [hypervisor] = await until(
    `${name} to be up`,
    () => cloud.hypervisors.search(name),
    ([found]) => found?.state === 'up'
  )
  const provider = hypervisor?.id ?? ''
  await until(
    'its provider',
    () => cloud.resourceProviders.get(provider),
    found => found !== undefined
  )
  // the scheduler takes a new host only after the cell's mapping was found, some seconds later
  await until(
    'Nova to map it',
    () => cloud.hypervisors.withServers(provider).catch(() => undefined),
    found => found !== undefined
  )
  return { provider, service: hypervisor?.service.id ?? '' }
}

export const died: Part = async (t, { cloud, target }) => {
  const guest = 'contract-died'
  const [, two, three] = target.hosts
  const { provider, service } = await newHost(cloud, target, guest)
  const serviceOf = async (host: string) => (await cloud.services.list({ host, binary: 'nova-compute' }))[0]
  const providerOf = async (host: string) => (await cloud.hypervisors.search(host))[0]?.id ?? ''

  let leak = ''
  await t.test('EV-12a: the source dies: records and tasks stay, its next start ends some of them', async t => {
    await target.setLiveMove(guest, 60)
    const moving = await boot(cloud, target, 'contract-died-live', guest)
    await cloud.servers.liveMigrate(moving.id, two)
    const record = await recordIn(cloud, moving.id, 'running')
    await target.killAgent(guest)

    t.match(await serviceOf(guest), { state: 'up', status: 'enabled' }, 'it is not down yet')
    await cloud.migrations.abort(moving.id, record.id)
    await cloud.migrations.forceComplete(moving.id, record.id)
    const wanted = { name: 'contract-died-new', host: guest, flavorId: target.flavorId, imageId: target.imageId } as const
    const fresh = await cloud.servers.create({ ...wanted, networks: 'none' })
    const { updated } = (await serviceOf(guest)) ?? {}
    await until(
      'it to be down',
      () => serviceOf(guest),
      found => found?.state === 'down'
    )
    t.equal((await serviceOf(guest))?.updated, updated, 'its last report grows old')
    t.match(await cloud.servers.get(moving.id), { status: 'MIGRATING', taskState: 'migrating', host: guest })
    t.match(await cloud.migrations.list({ server: moving.id }), [{ status: 'running', source: guest, target: two }])
    t.match(await cloud.migrations.running(moving.id), [{ id: record.id, status: 'running' }], '202 was said for nobody')
    t.match(await cloud.servers.get(fresh.id), { status: 'BUILD', host: null })
    t.ok(provider in (await cloud.allocations.get(fresh.id)), 'a server that no host has taken is booked there')
    await refused(t, 'busy', cloud.servers.liveMigrate(moving.id), 409, 'Conflict', /task_state migrating/)
    await refused(t, 'hosting', cloud.services.delete(service), 409, 'Conflict', /hosting instances/)

    await target.startAgent(guest)
    await recordIn(cloud, moving.id, 'error')
    t.match(await settled(cloud, moving.id, 'ACTIVE'), { host: guest })
    await until(
      'the message that waited to be taken',
      () => cloud.servers.get(fresh.id),
      found => found?.status === 'ACTIVE' && found.host === guest
    )
    t.strictSame(
      Object.keys(await cloud.allocations.get(moving.id)),
      [await providerOf(two)],
      'its own booking is at the destination'
    )
    t.strictSame(await cloud.allocations.get(record.uuid), { [provider]: { VCPU: 1, MEMORY_MB: 64, DISK_GB: 1 } })
    await remove(cloud, moving.id, fresh.id)
    t.strictSame(Object.keys(await cloud.allocations.get(record.uuid)), [provider], 'and stays when the server is gone')
    leak = record.uuid
  })

  await t.test(
    'HA-43: the destination of an evacuation dies: a source that returns ends a record that is only accepted',
    async t => {
      await until(
        'the scheduler to see it up again',
        () => serviceOf(guest),
        found => found?.state === 'up'
      )
      const { id } = await boot(cloud, target, 'contract-died-evac', guest)
      await target.stopAgent(guest)
      await cloud.services.update(service, { forcedDown: true })
      await target.killAgent(three)
      await cloud.servers.evacuate(id, three)
      const records = () => cloud.migrations.list({ server: id, type: 'evacuation' })
      await until(
        'it to be booked at both',
        () => cloud.allocations.get(id),
        found => Object.keys(found).length === 2
      )
      t.match(await records(), [{ status: 'accepted', source: guest, target: three }])
      t.match(await cloud.servers.get(id), { status: 'REBUILD', taskState: 'rebuilding', host: guest })

      await target.startAgent(guest)
      await until('the record to end', records, ([record]) => record?.status === 'completed')
      t.match(await cloud.servers.get(id), { taskState: 'rebuilding', host: guest }, 'the server is still nowhere else')
      await until(
        'its old place to be free',
        () => cloud.allocations.get(id),
        found => !(provider in found)
      )
      await target.startAgent(three)
      await until('the destination to take it after all', records, ([record]) => record?.status === 'done')
      t.match(await settled(cloud, id, 'ACTIVE'), { host: three })
      await refused(t, 'done again', cloud.services.update(service, { forcedDown: false }), 400, 'BadRequest', /done/)
      await remove(cloud, id)
      t.match(
        await cloud.services.update(service, { forcedDown: false }),
        { forcedDown: false },
        'its record went with the server'
      )
    }
  )

  await t.test('HV-55: what is booked at a host keeps its provider when its service is deleted', async t => {
    await target.stopAgent(guest)
    t.equal(await cloud.services.delete(service), 'deleted')
    t.strictSame(await cloud.hypervisors.search(guest), [])
    t.match(await cloud.resourceProviders.get(provider), { name: guest })
    t.strictSame(Object.keys(await cloud.resourceProviders.allocations(provider)), [leak])
    t.equal(await cloud.allocations.delete(leak), 'deleted')
    t.equal(await cloud.resourceProviders.delete(provider), 'deleted')
  })
}
