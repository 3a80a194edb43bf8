import { matchWhole } from '../../assert/match-whole.ts'
import { nowhere, type Part, refused } from './scene.ts'
import { boot, remove } from './target.ts'

export const hosts: Part = async (t, { cloud, target, raw }) => {
  const [one, two] = target.hosts

  await t.test('C1: hosts are found by a part of their name, and none is no error', async t => {
    const found = await cloud.hypervisors.search(one)
    t.match(found, [{ hostname: one, state: 'up', status: 'enabled', service: { host: one, disabledReason: null } }])
    const some = await cloud.hypervisors.search(one.slice(0, -1))
    t.ok(some.length >= 3, 'Nova matches substrings (HV-28)')
    t.strictSame(await cloud.hypervisors.search('no-such-host'), [])
    const all = await cloud.hypervisors.list({ pageSize: 2 })
    t.ok(
      target.hosts.every(host => all.some(({ hostname }) => hostname === host)),
      'over several pages'
    )
  })

  await t.test('C2: the list of servers is there even when it is empty', async t => {
    const [hypervisor] = await cloud.hypervisors.search(one)
    matchWhole(t, await cloud.hypervisors.withServers(hypervisor?.id ?? ''), { hostname: one, servers: [] })
    await refused(t, 'unknown', cloud.hypervisors.withServers(nowhere), 404, 'NotFound', /could not be found/)
  })

  await t.test('C3, C4: a service is disabled with a reason, and enabled again', async t => {
    const [service, ...others] = await cloud.services.list({ host: two, binary: 'nova-compute' })
    t.strictSame(others, [])
    t.match(service, {
      host: two,
      binary: 'nova-compute',
      status: 'enabled',
      state: 'up',
      forcedDown: false,
      disabledReason: null
    })
    const id = service?.id ?? ''
    const reason = 'drover: contract'
    t.match(await cloud.services.update(id, { status: 'disabled', disabledReason: reason }), {
      status: 'disabled',
      disabledReason: reason
    })
    const [hypervisor] = await cloud.hypervisors.search(two)
    t.match(hypervisor, { status: 'disabled', service: { disabledReason: reason } })
    const { traits } = await cloud.resourceProviders.traits(hypervisor?.id ?? '')
    t.ok(traits.includes('COMPUTE_STATUS_DISABLED'), 'Placement knows')
    t.match(await cloud.services.update(id, { status: 'enabled' }), { status: 'enabled', disabledReason: null })
    t.match(await cloud.services.update(id, { forcedDown: true }), { forcedDown: true, state: 'down' })
    t.match(await cloud.services.update(id, { forcedDown: false }), { forcedDown: false, state: 'up' })
    await refused(t, 'unknown', cloud.services.update(nowhere, { status: 'enabled' }), 404, 'NotFound', /could not be found/)
    t.strictSame(await cloud.services.list({ host: 'no-such-host' }), [])
  })

  await t.test('C10, C11, C25: aggregates', async t => {
    const made = await cloud.aggregates.create({ name: 'contract-a', zone: 'zone-a' })
    matchWhole(t, made, { name: 'contract-a', zone: 'zone-a', hosts: [], uuid: /-/ })
    t.strictSame(made.metadata, { availability_zone: 'zone-a' })
    const { id: a } = made
    const { id: b } = await cloud.aggregates.create({ name: 'contract-b', zone: 'zone-b' })
    const { id: plain, zone } = await cloud.aggregates.create({ name: 'contract-plain' })
    t.equal(zone, null)
    await refused(t, 'there is one', cloud.aggregates.create({ name: 'contract-a' }), 409, 'Conflict', /already exists/)

    t.match(await cloud.aggregates.addHost(a, one), {
      id: a,
      name: 'contract-a',
      zone: 'zone-a',
      hosts: [one],
      metadata: { availability_zone: 'zone-a' }
    })
    t.match(await cloud.aggregates.addHost(plain, one), { zone: null, hosts: [one] }, 'a host may be in several')
    await refused(t, 'twice', cloud.aggregates.addHost(a, one), 409, 'Conflict', /already has host/)
    await refused(t, 'two zones', cloud.aggregates.addHost(b, one), 409, 'Conflict', /already in availability zone/)
    await refused(t, 'no such host', cloud.aggregates.addHost(a, 'no-such-host'), 404, 'NotFound', /could not be found/)
    await refused(t, 'no such aggregate', cloud.aggregates.addHost(999_999, one), 404, 'NotFound', /could not be found/)
    const listed = await cloud.aggregates.list()
    t.match(
      listed.find(({ id }) => id === a),
      { uuid: /-/, hosts: [one] }
    )
    t.match((await cloud.services.list({ host: one }))[0], { zone: 'zone-a' }, 'the host is in the zone')
    const server = await boot(cloud, target, 'contract-zone', one)
    t.equal(server.zone, 'zone-a', 'and so is its server')
    await remove(cloud, server.id)

    t.match(await raw('compute', 'DELETE', `/os-aggregates/${a}`), { status: 400 }, 'not empty')
    matchWhole(t, await cloud.aggregates.removeHost(a, one), { hosts: [] })
    await refused(t, 'no member', cloud.aggregates.removeHost(a, one), 404, 'NotFound', /Cannot remove host/)
    await cloud.aggregates.removeHost(plain, one)
    for (const id of [a, b, plain]) t.match(await raw('compute', 'DELETE', `/os-aggregates/${id}`), { status: 200 })
  })
}
