import { newHost, recordIn } from './died.ts'
import { nowhere, type Part, refused } from './scene.ts'
import { boot, remove, settled, until } from './target.ts'

export const evacuation: Part = async (t, { cloud, target }) => {
  const guest = 'contract-hv'

  await t.test('C23, C3, C5: a host comes, dies, is evacuated, returns and is deleted', async t => {
    const { provider, service } = await newHost(cloud, target, guest)
    const { id } = await boot(cloud, target, 'contract-evac', guest)

    await refused(t, 'still up', cloud.servers.evacuate(id), 400, 'BadRequest', /still in use/)
    await refused(t, 'to nowhere', cloud.servers.evacuate(id, 'no-such-host'), 404, 'NotFound', /not found/)
    await refused(t, 'no such server', cloud.servers.evacuate(nowhere), 404, 'NotFound', /could not be found/)
    await refused(t, 'hosting', cloud.services.delete(service), 409, 'Conflict', /hosting instances/)

    await target.stopAgent(guest)
    const fenced = await cloud.services.update(service, { status: 'disabled', disabledReason: 'drover:ha', forcedDown: true })
    t.match(fenced, { status: 'disabled', state: 'down', forcedDown: true, disabledReason: 'drover:ha' })
    const { traits } = await cloud.resourceProviders.traits(provider)
    t.notOk(traits.includes('COMPUTE_STATUS_DISABLED'), 'nova-compute is not asked for the trait while it is down')
    await cloud.servers.liveMigrate(id)
    await recordIn(cloud, id, 'error')
    t.match(await settled(cloud, id, 'ACTIVE'), { host: guest }, 'from a host that is down: heard (202), then an error')
    await refused(t, 'a cold move', cloud.servers.migrate(id), 409, 'Conflict', /Service is unavailable/)

    const others = (await cloud.services.list({ binary: 'nova-compute' })).filter(({ host }) => host !== guest)
    for (const { id } of others) await cloud.services.update(id, { status: 'disabled', disabledReason: 'drover: contract' })
    await cloud.servers.evacuate(id)
    const lost = await until(
      'no host to take it',
      () => cloud.servers.get(id),
      found => found?.status === 'ERROR'
    )
    t.match(
      lost,
      { host: guest, taskState: null, fault: { code: 500, message: /No valid host/ } },
      'said yes to (200), then ERROR'
    )
    t.match(await cloud.migrations.list({ server: id, type: 'evacuation' }), [{ status: 'error', target: null }])
    for (const { id } of others) await cloud.services.update(id, { status: 'enabled' })
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
    await until(
      'the trait, which comes with the next start',
      () => cloud.resourceProviders.traits(provider),
      ({ traits }) => traits.includes('COMPUTE_STATUS_DISABLED')
    )
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
