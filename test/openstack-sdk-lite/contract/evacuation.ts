import { nowhere, type Part, refused } from './scene.ts'
import { boot, remove, settled, until } from './target.ts'

export const evacuation: Part = async (t, { cloud, target }) => {
  const guest = 'contract-hv'

  await t.test('C23, C3, C5: a host comes, dies, is evacuated, returns and is deleted', async t => {
    await target.startAgent(guest)
    const [hypervisor] = await until(
      'the new host',
      () => cloud.hypervisors.search(guest),
      ([found]) => found?.state === 'up'
    )
    const provider = hypervisor?.id ?? ''
    const service = hypervisor?.service.id ?? ''
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
    const { id } = await boot(cloud, target, 'contract-evac', guest)

    await refused(t, 'still up', cloud.servers.evacuate(id), 400, 'BadRequest', /still in use/)
    await refused(t, 'to nowhere', cloud.servers.evacuate(id, 'no-such-host'), 404, 'NotFound', /not found/)
    await refused(t, 'no such server', cloud.servers.evacuate(nowhere), 404, 'NotFound', /could not be found/)
    await refused(t, 'hosting', cloud.services.delete(service), 409, 'Conflict', /hosting instances/)

    await target.stopAgent(guest)
    const fenced = await cloud.services.update(service, { status: 'disabled', disabledReason: 'drover:ha', forcedDown: true })
    t.match(fenced, { status: 'disabled', state: 'down', forcedDown: true, disabledReason: 'drover:ha' })
    await cloud.servers.evacuate(id)
    const moved = await until(
      'it to be elsewhere',
      () => cloud.servers.get(id),
      found => found?.host !== guest && found?.taskState === null
    )
    t.match(moved, { status: 'ACTIVE', powerState: 1 }, 'HA-32: it runs again')
    const records = () => cloud.migrations.list({ source: guest, type: 'evacuation' })
    t.match(await until('the record', records, ([record]) => record?.status === 'done'), [{ server: id, target: moved?.host }])
    t.ok(provider in (await cloud.allocations.get(id)), 'its old place stays booked')
    await refused(t, 'P10 in use', cloud.resourceProviders.delete(provider), 409, 'Conflict', /has allocations/)
    await refused(t, 'HA-44: not yet', cloud.services.update(service, { forcedDown: false }), 400, 'BadRequest', /done/)

    await target.startAgent(guest)
    await until('HA-43: the record to end', records, ([record]) => record?.status === 'completed')
    await until(
      'its old place to be free',
      () => cloud.allocations.get(id),
      found => !(provider in found)
    )
    t.match(await cloud.services.update(service, { forcedDown: false }), { forcedDown: false })

    await target.stopAgent(guest)
    const gone = await until(
      'C5',
      () => cloud.services.delete(service).catch(() => 'busy'),
      answer => answer !== 'busy'
    )
    t.equal(gone, 'deleted')
    t.equal(await cloud.services.delete(service), 'absent')
    t.strictSame(await cloud.hypervisors.search(guest), [])
    t.equal(await cloud.resourceProviders.get(provider), undefined, 'its provider went with it')
    await settled(cloud, id, 'ACTIVE')
    await remove(cloud, id)
  })
}
