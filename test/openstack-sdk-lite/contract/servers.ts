import { nowhere, type Part, refused } from './scene.ts'
import { boot, remove, settled, until } from './target.ts'

export const servers: Part = async (t, { cloud, target, raw }) => {
  const [one, two] = target.hosts
  const act = async (id: string, body: object): Promise<number> =>
    (await raw('compute', 'POST', `/servers/${id}/action`, body)).status

  await t.test('C7, C6, C8, C9: a server comes, is seen, speaks and goes', async t => {
    const server = await boot(cloud, target, 'contract.one', one)
    t.match(server, {
      name: 'contract.one',
      status: 'ACTIVE',
      vmState: 'active',
      taskState: null,
      powerState: 1,
      host: one,
      hypervisorHostname: one
    })
    t.match(server, {
      zone: 'nova',
      locked: false,
      partial: false,
      fault: null,
      imageId: target.imageId,
      flavor: { name: 'm1.fake', vcpus: 1, ramMiB: 64 }
    })
    t.strictSame(
      (await cloud.servers.named('contract.one')).map(({ id }) => id),
      [server.id]
    )
    t.strictSame(await cloud.servers.named('contractXone'), [], 'a dot is a dot')
    t.strictSame(await cloud.servers.named('contract'), [], 'the whole name')
    await until(
      'its name on its console',
      () => cloud.servers.consoleOutput(server.id, 11),
      text => text.split('\n').includes('contract.one login:')
    )
    t.equal((await cloud.servers.consoleOutput(server.id, 1)).split('\n').length, 1, 'the last line only')
    const [hypervisor] = await cloud.hypervisors.search(one)
    const { servers: there } = await cloud.hypervisors.withServers(hypervisor?.id ?? '')
    t.match(there, [{ id: server.id, name: /^instance-/ }])
    t.match(await cloud.allocations.get(server.id), { [hypervisor?.id ?? '']: { VCPU: 1, MEMORY_MB: 64, DISK_GB: 1 } })
    t.equal(await cloud.servers.delete(server.id), 'deleted')
    await until(
      'it to be gone',
      () => cloud.servers.get(server.id),
      found => found === undefined
    )
    t.equal(await cloud.servers.delete(server.id), 'absent')
    t.strictSame(await cloud.allocations.get(server.id), {})
    await refused(t, 'a dumb server', cloud.servers.consoleOutput(server.id, 11), 404, 'NotFound', /could not be found/)
    t.match(
      (await cloud.instanceActions.list(server.id)).map(({ action }) => action),
      ['delete', 'create'],
      'its story can still be read'
    )
  })

  await t.test('C7: what cannot be made', async t => {
    const wanted = { name: 'contract-x', flavorId: target.flavorId, imageId: target.imageId, networks: 'none' } as const
    await refused(t, 'host', cloud.servers.create({ ...wanted, host: 'no-such-host' }), 400, 'BadRequest', /could not be found/)
    await refused(
      t,
      'zone',
      cloud.servers.create({ ...wanted, zone: 'no-such-zone' }),
      400,
      'BadRequest',
      /zone is not available/
    )
    await refused(t, 'flavor', cloud.servers.create({ ...wanted, flavorId: 'no-such' }), 400, 'BadRequest', /could not be found/)
  })

  await t.test('C12: the servers of a host, page by page', async t => {
    const there = await Promise.all(['p1', 'p2', 'p3'].map(name => boot(cloud, target, `contract-${name}`, two)))
    const elsewhere = await boot(cloud, target, 'contract-p4', one)
    const ids = there.map(({ id }) => id).sort()
    const listed = await cloud.servers.list({ host: two, allProjects: true, pageSize: 2 })
    t.strictSame(listed.map(({ id }) => id).sort(), ids)
    t.ok(listed.every(server => server.host === two && !server.partial))
    for await (const first of cloud.servers.stream({ host: two, allProjects: true, pageSize: 1 })) {
      t.ok(ids.includes(first.id), 'a reader may stop after the first')
      break
    }
    t.strictSame(await cloud.servers.list({ host: two.slice(0, -1), allProjects: true }), [], 'a host is compared whole (HV-29)')
    await remove(cloud, ...ids, elsewhere.id)
  })

  await t.test('C21, C22, C24, C18: stopped, started, suspended, reset, shelved', async t => {
    const { id } = await boot(cloud, target, 'contract-states', one)
    await refused(t, 'start', cloud.servers.start(id), 409, 'Conflict', /vm_state active/)
    t.equal(await act(id, { 'os-stop': null }), 202)
    t.match(await settled(cloud, id, 'SHUTOFF'), { vmState: 'stopped', powerState: 4 })
    await refused(t, 'live', cloud.servers.liveMigrate(id), 409, 'Conflict', /vm_state stopped/)
    await cloud.servers.start(id)
    await settled(cloud, id, 'ACTIVE')
    await cloud.servers.reboot(id, 'HARD')
    await settled(cloud, id, 'ACTIVE')
    await cloud.servers.suspend(id)
    await settled(cloud, id, 'SUSPENDED')
    await refused(t, 'again', cloud.servers.suspend(id), 409, 'Conflict', /vm_state suspended/)
    await refused(t, 'live', cloud.servers.liveMigrate(id), 409, 'Conflict', /vm_state suspended/)
    await refused(t, 'cold', cloud.servers.migrate(id), 409, 'Conflict', /vm_state suspended/)
    await cloud.servers.resume(id)
    await settled(cloud, id, 'ACTIVE')
    await refused(t, 'resume', cloud.servers.resume(id), 409, 'Conflict', /vm_state active/)
    await cloud.servers.resetState(id, 'error')
    t.equal((await cloud.servers.get(id))?.status, 'ERROR')
    await cloud.servers.resetState(id, 'active')
    await settled(cloud, id, 'ACTIVE')
    await refused(t, 'reset', cloud.servers.resetState(nowhere, 'active'), 404, 'NotFound', /could not be found/)
    t.equal(await act(id, { lock: null }), 202)
    t.equal((await cloud.servers.get(id))?.locked, true)
    t.equal(await act(id, { unlock: null }), 202)
    await refused(t, 'offload', cloud.servers.shelveOffload(id), 409, 'Conflict', /vm_state active/)
    t.equal(await act(id, { shelve: null }), 202)
    await settled(cloud, id, 'SHELVED')
    await cloud.servers.shelveOffload(id)
    await settled(cloud, id, 'SHELVED_OFFLOADED')
    await until(
      'its host to be free',
      () => cloud.servers.get(id),
      found => found?.host === null
    )

    const story = await cloud.instanceActions.list(id)
    const told = [
      'shelveOffload',
      'shelve',
      'unlock',
      'lock',
      'resetState',
      'resetState',
      'resume',
      'suspend',
      'reboot',
      'start',
      'stop',
      'create'
    ]
    t.strictSame(
      story.map(({ action }) => action),
      told,
      'the newest first'
    )
    const stop = story.find(({ action }) => action === 'stop')
    const detail = await cloud.instanceActions.get(id, stop?.requestId ?? '')
    t.match(detail, {
      action: 'stop',
      message: null,
      userId: String,
      steps: [{ event: 'compute_stop_instance', result: 'Success', host: one, details: null }]
    })
    await refused(t, 'unknown request', cloud.instanceActions.get(id, `req-${nowhere}`), 404, 'NotFound', /not found/)
    await remove(cloud, id)
  })
}
