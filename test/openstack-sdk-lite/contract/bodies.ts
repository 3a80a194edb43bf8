// Bodies: what Nova refuses before it looks at anything, and what it says in which microversion.
import { recordIn } from './died.ts'
import { nowhere, type Part, type Scene } from './scene.ts'
import { boot, remove } from './target.ts'

type Ask = (version: string, method: string, path: string, body?: unknown) => Promise<{ status: number; body: unknown }>

/** The compute API in any microversion. */
async function asking({ target, raw }: Scene): Promise<Ask> {
  const { user, password, scope } = target.options.auth
  const identity = { methods: ['password'], password: { user: { ...user, password } } }
  const { headers, body } = await raw('identity', 'POST', '/auth/tokens', { auth: { identity, scope } })
  const { catalog } = (body as { token: { catalog: { type: string; endpoints: { interface: string; url: string }[] }[] } }).token
  const base = catalog.find(({ type }) => type === 'compute')?.endpoints.find(({ interface: face }) => face === 'public')?.url
  const token = headers.get('x-subject-token') ?? ''
  return async (version, method, path, body) => {
    const said = { 'content-type': 'application/json', 'x-auth-token': token, 'openstack-api-version': `compute ${version}` }
    const answer = await fetch(`${base}${path}`, {
      method,
      headers: said,
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
    const text = await answer.text()
    return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : {} }
  }
}

const whole = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000000$/
const isotime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

export const bodies: Part = async (t, scene) => {
  const { cloud, target } = scene
  const ask = await asking(scene)
  const [one] = target.hosts

  await t.test('what a body may not say', async t => {
    const service = `/os-services/${(await cloud.services.list({ host: one, binary: 'nova-compute' }))[0]?.id}`
    const action = `/servers/${nowhere}/action`
    const server = { name: 'x', flavorRef: '1', imageRef: target.imageId, networks: 'none' }
    const cases: [version: string, method: string, path: string, body: object, words: RegExp][] = [
      [
        '2.90',
        'PUT',
        service,
        { status: 'disabled', why: 'x' },
        /Additional properties are not allowed \('why' was unexpected\)/
      ],
      ['2.90', 'PUT', service, { status: 5 }, /field\/attribute status\. Value: 5\. 5 is not of type 'string'/],
      ['2.90', 'PUT', service, { status: 'on' }, /'on' is not one of \['enabled', 'disabled'\]/],
      ['2.90', 'PUT', service, { status: 'disabled', disabled_reason: '' }, /disabled_reason/],
      ['2.90', 'PUT', service, { status: 'disabled', disabled_reason: 'x'.repeat(256) }, /is too long/],
      ['2.90', 'PUT', service, { status: 'enabled', disabled_reason: 'x' }, /Specifying 'disabled_reason' with status 'enabled'/],
      ['2.90', 'PUT', service, { forced_down: 5 }, /field\/attribute forced_down\. Value: 5/],
      ['2.90', 'PUT', service, {}, /No updates were requested/],
      [
        '2.90',
        'POST',
        action,
        { 'os-migrateLive': { host: null, block_migration: 'auto', force: true } },
        /'force' was unexpected/
      ],
      ['2.90', 'POST', action, { 'os-migrateLive': { host: null } }, /'block_migration' is a required property/],
      ['2.24', 'POST', action, { 'os-migrateLive': { host: null, block_migration: false } }, /'disk_over_commit' is a required/],
      ['2.90', 'POST', action, { migrate: { host: 5 } }, /5 is not of type 'string', 'null'/],
      ['2.90', 'POST', action, { evacuate: { host: null } }, /None is not of type 'string'/],
      ['2.90', 'POST', action, { evacuate: { onSharedStorage: true } }, /'onSharedStorage' was unexpected/],
      ['2.90', 'POST', action, { 'os-resetState': { state: 'paused' } }, /'paused' is not one of \['active', 'error'\]/],
      ['2.90', 'POST', action, { reboot: {} }, /'type' is a required property/],
      ['2.90', 'POST', action, { 'os-nothing': null }, /There is no such action: os-nothing/],
      ['2.90', 'POST', action, { 'os-start': null, 'os-stop': null }, /Malformed request body/],
      ['2.90', 'POST', `/servers/${nowhere}/migrations/1/action`, { force_complete: {} }, /\{\} is not of type 'null'/],
      ['2.90', 'POST', '/os-aggregates', { aggregate: { name: 'x', zone: 'y' } }, /'zone' was unexpected/],
      ['2.90', 'POST', '/os-aggregates', { aggregate: {} }, /'name' is a required property/],
      ['2.90', 'POST', '/os-aggregates/1/action', { add_host: {} }, /'host' is a required property/],
      ['2.90', 'POST', '/servers', { server: { ...server, strange: 1 } }, /'strange' was unexpected/],
      ['2.90', 'POST', '/servers', { server: { ...server, networks: undefined } }, /'networks' is a required property/],
      ['2.73', 'POST', '/servers', { server: { ...server, host: one } }, /'host' was unexpected/]
    ]
    for (const [version, method, path, body, words] of cases) {
      const answer = await ask(version, method, path, body)
      t.match(answer, { status: 400, body: { badRequest: { code: 400, message: words } } }, `${version} ${JSON.stringify(body)}`)
    }
    const old = await ask('2.60', 'POST', action, { 'os-migrateLive': { host: one, block_migration: 'auto', force: true } })
    t.equal(old.status, 404, 'an older microversion takes `force`, and then finds no server')
  })

  await t.test('what is said only from a microversion on, and times in whole seconds', async t => {
    const { id } = await boot(cloud, target, 'contract-bodies', one)
    await cloud.servers.liveMigrate(id, one)
    await recordIn(cloud, id, 'error')
    const hypervisor = (await cloud.hypervisors.search(one))[0]?.id
    const requestId = (await cloud.instanceActions.list(id))[0]?.requestId
    const first = (list: string) => (body: any) => body[list][0] as object
    const rows: [path: string, from: (body: any) => object, before: string, version: string, fields: string[]][] = [
      ['/os-services', first('services'), '2.10', '2.11', ['forced_down']],
      [`/os-migrations?instance_uuid=${id}`, first('migrations'), '2.22', '2.23', ['migration_type']],
      [`/os-migrations?instance_uuid=${id}`, first('migrations'), '2.58', '2.59', ['uuid']],
      [`/os-migrations?instance_uuid=${id}`, first('migrations'), '2.79', '2.80', ['user_id', 'project_id']],
      [`/servers/${id}`, body => body.server, '2.8', '2.9', ['locked']],
      [`/servers/${id}`, body => body.server, '2.15', '2.16', ['host_status']],
      [`/servers/${id}`, body => body.server, '2.70', '2.71', ['server_groups']],
      [`/servers/${id}`, body => body.server, '2.72', '2.73', ['locked_reason']],
      [`/servers/${id}/os-instance-actions`, first('instanceActions'), '2.57', '2.58', ['updated_at']],
      [`/servers/${id}/os-instance-actions/${requestId}`, body => body.instanceAction.events[0], '2.61', '2.62', ['host']],
      [`/servers/${id}/os-instance-actions/${requestId}`, body => body.instanceAction.events[0], '2.83', '2.84', ['details']],
      [`/os-hypervisors/${hypervisor}`, body => body.hypervisor, '2.87', '2.88', ['uptime']]
    ]
    for (const [path, from, before, version, fields] of rows)
      for (const field of fields) {
        t.notOk(field in from((await ask(before, 'GET', path)).body), `${path} without ${field} in ${before}`)
        t.ok(field in from((await ask(version, 'GET', path)).body), `${path} with ${field} in ${version}`)
      }
    const { body } = await ask('2.87', 'GET', `/os-hypervisors/${hypervisor}`)
    t.match(body, { hypervisor: { vcpus: Number, memory_mb: Number, running_vms: Number } }, 'until 2.87')
    t.notOk(
      'vcpus' in ((await ask('2.88', 'GET', `/os-hypervisors/${hypervisor}`)).body as { hypervisor: object }).hypervisor,
      'not later'
    )

    t.match(await ask('2.90', 'GET', '/os-services'), { body: { services: [{ updated_at: whole }] } })
    const record = { created_at: whole, updated_at: whole }
    t.match(await ask('2.90', 'GET', `/os-migrations?instance_uuid=${id}`), { body: { migrations: [record] } })
    const times = { created: isotime, updated: isotime, 'OS-SRV-USG:launched_at': whole }
    t.match(await ask('2.90', 'GET', `/servers/${id}`), { body: { server: times } })
    const told = { start_time: whole, updated_at: whole }
    t.match(await ask('2.90', 'GET', `/servers/${id}/os-instance-actions`), { body: { instanceActions: [told] } })
    await remove(cloud, id)
  })
}
