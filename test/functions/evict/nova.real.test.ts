// The engine on the real Nova: every state that can be made, users in between, the function killed again and again. Afterwards every verdict is
// compared with Nova's own lists.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { connect as connectCloud } from 'openstack-sdk-lite'
import t from 'tap'
import { connect } from '../../../shared/kube/index.ts'
import { Eviction } from '../../../shared/schema/eviction.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { eventually } from '../../servers/eventually.ts'
import { asServiceAccount } from '../../servers/identity.ts'
import { kubernetes } from '../../servers/kubernetes.ts'
import { openRaw } from '../../servers/openstack/raw.ts'
import { openstack } from '../../servers/openstack.ts'
import { environmentOf } from '../host-life/life.ts'
import { watchMoves } from './agents.ts'

t.setTimeout(300_000)
const api = await kubernetes(t)
const target = await openstack(t)
const admin = await connect({ manager: 'test', kubeconfig: api.kubeconfig })
t.teardown(() => admin.close())
const cloud = await connectCloud(target.options)
t.teardown(() => cloud.close())
const raw = await openRaw(target)
const kubeconfig = await asServiceAccount(t, api, 'evict.yaml', 'evict')
const [hv1, hv2] = target.hosts
const act = (id: string, action: string, body: unknown = null) =>
  raw('compute', 'POST', `/servers/${id}/action`, { [action]: body })

const make = async (name: string, host: string): Promise<string> => {
  const { id } = await cloud.servers.create({ name, flavorId: target.flavorId, imageId: target.imageId, networks: 'none', host })
  return id
}
const reaches = (id: string, status: string) =>
  eventually(`${id} to be ${status}`, async () => (await cloud.servers.get(id))?.status === status, 90_000)

let child: ChildProcess | undefined
let url = ''
async function start(): Promise<void> {
  const env = {
    ...environmentOf(target),
    PATH: process.env['PATH'],
    KUBECONFIG: kubeconfig,
    PORT: '0',
    HOST: '127.0.0.1',
    K_SINK: 'http://127.0.0.1:9',
    VERIFY_GAP: '1s',
    DESTINATION_LIMIT: '4',
    LOG_LEVEL: 'info'
  }
  child = spawn(process.execPath, ['--conditions=drover', 'functions/evict/main.ts'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit']
  })
  for await (const line of createInterface(child.stdout as NonNullable<ChildProcess['stdout']>)) {
    const found = /"url":"([^"]+)"/.exec(line)?.[1]
    if (found) {
      url = found
      return
    }
  }
  throw new Error('the function did not start')
}
async function kill(): Promise<void> {
  const gone = child && once(child, 'exit')
  child?.kill('SIGKILL')
  await gone
}
t.teardown(kill)

let number = 0
async function post(type: string, data: object): Promise<number | undefined> {
  const headers = {
    'content-type': 'application/json',
    'ce-specversion': '1.0',
    'ce-id': String((number += 1)),
    'ce-source': '/test',
    'ce-type': type
  }
  try {
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(data) })
    await response.arrayBuffer()
    return response.status
  } catch {
    return undefined // killed in the middle: the event is lost, and the tick must do
  }
}
const tick = (speed: string) => post('dev.knative.sources.ping', { tick: speed })
const stored = async () => (await admin.find(Eviction, 'real'))?.status

t.test('every state that can be made, under users and deaths', async t => {
  await target.setLiveMove(hv1, 1)
  const names = [
    'a0',
    'a1',
    'a2',
    'a3',
    'a4',
    'a5',
    'deleted',
    'stopped-later',
    'locked',
    'off',
    'paused',
    'suspended',
    'rescued',
    'shelved',
    'error',
    'fails'
  ]
  const ids = new Map<string, string>()
  for (const name of names) ids.set(name, await make(name, hv1))
  ids.set('resized', await make('resized', hv2))
  const idOf = (name: string): string => ids.get(name) ?? ''
  await Promise.all([...ids.values()].map(id => reaches(id, 'ACTIVE')))
  const prepared: Array<[name: string, action: string, body: unknown, status: string]> = [
    ['off', 'os-stop', null, 'SHUTOFF'],
    ['paused', 'pause', null, 'PAUSED'],
    ['suspended', 'suspend', null, 'SUSPENDED'],
    ['rescued', 'rescue', {}, 'RESCUE'],
    ['shelved', 'shelve', null, 'SHELVED'],
    ['error', 'os-resetState', { state: 'error' }, 'ERROR'],
    ['resized', 'migrate', { host: hv1 }, 'VERIFY_RESIZE']
  ]
  for (const [name, action, body] of prepared) await act(idOf(name), action, body)
  await act(idOf('locked'), 'lock')
  const made: string[] = []
  for (const [name, , , status] of prepared) {
    const isSo = async () => (await cloud.servers.get(idOf(name)))?.status === status
    if (await eventually(name, isSo, 30_000).catch(() => false)) made.push(name)
  }
  t.comment(`could be made: ${made.join(', ')}`)
  t.ok(made.includes('off') && made.includes('paused') && made.includes('error') && made.includes('resized'))
  // one comes in while the drain begins
  const incoming = await make('incoming', hv2)
  await reaches(incoming, 'ACTIVE')
  await target.setLiveMove(hv2, 5)
  await act(incoming, 'os-migrateLive', { host: hv1, block_migration: 'auto' })

  const [service] = await cloud.services.list({ host: hv1, binary: 'nova-compute' })
  await admin.create(Hypervisor, { metadata: { name: 'real-host' } })
  await admin.applyStatus(Hypervisor, {
    metadata: { name: 'real-host' },
    status: { serviceId: service?.id ?? '', nova: { host: hv1 } }
  })
  await start()
  watchMoves(
    t,
    async () =>
      (await cloud.migrations.list({ host: hv1 })).map(({ id, server, source, status }) => ({ id, server, source, status })),
    post,
    300
  )
  await admin.create(Eviction, { metadata: { name: 'real' }, spec: { hypervisor: 'real-host', reason: 'proof', maxParallel: 6 } })
  await post('sap.cloud.kvm.eviction.changed.v1', { apiVersion: 'kvm.cloud.sap/v1', kind: 'Eviction', name: 'real' })

  const seen = new Set<string>()
  const check = async (): Promise<void> => {
    const open = (await cloud.migrations.list({ source: hv1 })).filter(({ status }) =>
      ['accepted', 'queued', 'preparing', 'running', 'post-migrating', 'pre-migrating', 'migrating'].includes(status)
    )
    const twice = open.filter(({ server }, at) => open.findIndex(other => other.server === server) !== at)
    if (twice.length > 0) t.fail(`two moves of ${twice[0]?.server} at once`)
    const status = await stored()
    if (status?.phase) seen.add(status.phase)
    if (status?.verdict === 'Succeeded' && (await cloud.servers.list({ host: hv1, allProjects: true })).length > 0)
      t.fail('called empty, but it is not')
  }
  for (let death = 0; death < 10; death++) {
    await tick(death % 2 === 0 ? 'fast' : 'slow')
    await check()
    if (death === 2) await cloud.servers.delete(idOf('deleted'))
    if (death === 4) await act(idOf('stopped-later'), 'os-stop')
    await kill()
    await start()
  }
  const waits = new Set(['resized'])
  const settled = await eventually(
    'everything but what needs a person',
    async () => {
      await tick('slow')
      await check()
      const { instances = [] } = (await stored()) ?? {}
      const busy = instances.filter(
        ({ state, name = '' }) => ['Waiting', 'Queued', 'Migrating', 'Confirming'].includes(state) && !waits.has(name)
      )
      return instances.length > 0 && busy.length === 0 && instances
    },
    150_000
  )
  const left = (await cloud.servers.list({ host: hv1, allProjects: true })).map(({ id }) => id)
  const stuck = settled
    .filter(({ state, name = '' }) => state === 'Blocked' || state === 'Failed' || waits.has(name))
    .map(({ id }) => id)
  t.same(left.toSorted(), stuck.toSorted(), "those that are told to be left are those of Nova's list")
  for (const name of ['a0', 'a5', 'locked', 'off', 'paused'])
    t.match(
      settled.find(({ id }) => id === idOf(name)),
      { state: 'Done' },
      name
    )
  t.match(
    settled.find(({ id }) => id === idOf('deleted')),
    { state: /Gone|Done/ }
  )
  t.match(
    settled.find(({ id }) => id === idOf('error')),
    { state: 'Blocked', reason: 'ServerError' }
  )
  t.equal((await cloud.servers.get(idOf('off')))?.status, 'SHUTOFF', 'it stays as it was')
  t.equal((await cloud.servers.get(idOf('paused')))?.status, 'PAUSED')
  t.equal((await cloud.servers.get(idOf('locked')))?.locked, true, 'EV-8')
  t.notOk(seen.has('Done'), 'no verdict while a user may still confirm a resize')

  for (const id of left) await cloud.servers.delete(id) // people decide
  await eventually(
    'the success',
    async () => {
      await tick('slow')
      await check()
      return (await stored())?.verdict === 'Succeeded'
    },
    60_000
  )
  t.same(await cloud.servers.list({ host: hv1, allProjects: true }), [])
})
