// The engine on the real Nova: 30 servers in every state that can be made, users and faults in between, the function killed again and again.
// Afterwards every verdict is compared with Nova's own lists.
import { connect as connectCloud } from 'openstack-sdk-lite'
import t from 'tap'
import { connect } from '../../../shared/kube/index.ts'
import { Eviction } from '../../../shared/schema/eviction.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { eventually, patienceMs } from '../../servers/eventually.ts'
import { asServiceAccount } from '../../servers/identity.ts'
import { ownKubernetes } from '../../servers/kubernetes.ts'
import { openRaw } from '../../servers/openstack/raw.ts'
import { openstack } from '../../servers/openstack.ts'
import { environmentOf } from '../host-life/life.ts'
import { watchMoves } from './agents.ts'
import { evictProcess, makeServers, present, reaches, wrongIn } from './nova.ts'

t.setTimeout(1_800_000)
const api = await ownKubernetes(t) // a tick goes to every Eviction that it knows
const target = await openstack(t)
const admin = await connect({ manager: 'test', kubeconfig: api.kubeconfig })
t.teardown(() => admin.close())
const cloud = await connectCloud({ ...target.options, breaker: { failures: 1e9, pauseMs: 0 } }) // nova-api is restarted on the way
t.teardown(() => cloud.close())
const raw = await openRaw(target)
const [hv1, hv2, hv3] = target.hosts
const act = async (id: string, action: string, body: unknown = null): Promise<void> => {
  const { status, body: answer } = await raw('compute', 'POST', `/servers/${id}/action`, { [action]: body })
  if (status >= 300) throw new Error(`${action}: ${status} ${JSON.stringify(answer)}`)
}

/** Of two servers of this flavor only one fits a host. */
const giant = 'drover-giant'
const other = 'drover-other'
for (const [id, ram] of [
  [giant, 700_000],
  [other, 128]
] as const) {
  await raw('compute', 'POST', '/flavors', { flavor: { id, name: id, vcpus: 1, ram, disk: 1 } })
  t.teardown(() => raw('compute', 'DELETE', `/flavors/${id}`))
}

const plain = Array.from({ length: 14 }, (_, at) => `a${at}`)
const here = [
  ...plain,
  'deleted',
  'deleted-later',
  'stopped-later',
  'resized-later',
  'locked',
  'off',
  'off-too',
  'paused',
  'fails'
]
const blocked = { suspended: 'Suspended', rescued: 'Rescue', error: 'ServerError' }
const prepared: ReadonlyArray<[name: string, action: string, body: unknown, status: string]> = [
  ['off', 'os-stop', null, 'SHUTOFF'],
  ['off-too', 'os-stop', null, 'SHUTOFF'],
  ['paused', 'pause', null, 'PAUSED'],
  ['suspended', 'suspend', null, 'SUSPENDED'],
  ['rescued', 'rescue', {}, 'RESCUE'],
  ['shelved', 'shelve', null, 'SHELVED'],
  ['error', 'os-resetState', { state: 'error' }, 'ERROR'],
  ['resized', 'migrate', { host: hv1 }, 'VERIFY_RESIZE']
]

const stored = async () => (await admin.find(Eviction, 'real'))?.status

await t.test('every state that can be made, under users, faults and deaths', async t => {
  const begun = Date.now()
  const mark = (what: string) => t.comment(`${((Date.now() - begun) / 1000).toFixed(1).padStart(6)} s  ${what}`)
  await target.setLiveMove(hv1, 2)
  const ids = await makeServers(cloud, target, [
    ...[...here, ...Object.keys(blocked), 'shelved'].map(name => ({ name, host: hv1 })),
    { name: 'resized', host: hv2 },
    { name: 'incoming', host: hv2 },
    { name: 'giant', host: hv1, flavor: giant },
    { name: 'giant-2', host: hv2, flavor: giant },
    { name: 'giant-3', host: hv3, flavor: giant }
  ])
  const idOf = (name: string): string => ids.get(name) ?? name
  t.equal(ids.size - 2, 30)
  await target.setLiveMove(hv1, 'fail', idOf('fails'))
  for (const [name, action, body] of prepared) await act(idOf(name), action, body)
  await act(idOf('locked'), 'lock')
  for (const [name, , , status] of prepared) await reaches(cloud, idOf(name), status)

  mark('30 servers are as wanted')
  const [service] = await cloud.services.list({ host: hv1, binary: 'nova-compute' })
  await admin.create(Hypervisor, { metadata: { name: 'real-host' } })
  const status = { serviceId: service?.id ?? '', nova: { host: hv1 } }
  await admin.applyStatus(Hypervisor, { metadata: { name: 'real-host' }, status })
  const fn = evictProcess(t, {
    ...environmentOf(target),
    KUBECONFIG: await asServiceAccount(t, api, 'evict.yaml', 'evict'),
    K_SINK: 'http://127.0.0.1:9',
    VERIFY_GAP: '1s',
    DESTINATION_LIMIT: '4'
  })
  await fn.start()

  // two are on their way when the drain begins, one to the host and one out of the world
  await target.setLiveMove(hv2, 20)
  await act(idOf('incoming'), 'os-migrateLive', { host: hv1, block_migration: 'auto' })
  await cloud.servers.delete(idOf('deleted'))
  const spec = { hypervisor: 'real-host', reason: 'proof', maxParallel: 6, maxAttempts: 2 }
  await admin.create(Eviction, { metadata: { name: 'real' }, spec })
  await fn.post('sap.cloud.kvm.eviction.changed.v1', { apiVersion: 'kvm.cloud.sap/v1', kind: 'Eviction', name: 'real' })
  const stopTelling = watchMoves(
    t,
    () => cloud.migrations.list({ host: hv1 }).catch(() => []), // nova-api is restarted meanwhile
    (type, data) => fn.post(type, data),
    300
  )

  const verdicts = new Set<string>()
  const check = async (): Promise<void> => {
    const verdict = (await stored())?.verdict
    if (verdict) verdicts.add(verdict)
    const wrong = await wrongIn(cloud, hv1, verdict)
    if (wrong) t.fail(wrong)
  }
  const meanwhile: Array<(() => Promise<unknown>) | undefined> = [
    undefined,
    () => cloud.servers.delete(idOf('deleted-later')),
    () => target.killAgent(hv3),
    () => untilTaken(() => act(idOf('stopped-later'), 'os-stop')),
    () => target.startAgent(hv3),
    () => untilTaken(() => act(idOf('resized-later'), 'resize', { flavorRef: other })),
    () => target.restartApi()
  ]
  for (let death = 0; death < 10; death++) {
    const ticked = fn.tick(death % 2 === 0 ? 'fast' : 'slow')
    await meanwhile[death]?.()
    if (death % 3 === 0) await ticked // else it dies in the middle of a pass
    await check()
    mark(`death ${death}`)
    await fn.kill()
    await ticked
    await fn.start()
  }

  const awaitsUser = new Set([idOf('resized'), idOf('resized-later')])
  const patient = new Set(['ResizeAwaitsUser', 'NoCapacity'])
  const settled = await eventually(
    'everything but what needs a person or room',
    async () => {
      await fn.tick('slow')
      await check()
      const { instances = [] } = (await stored()) ?? {}
      const busy = instances.filter(
        ({ state, reason = '' }) =>
          ['Queued', 'Migrating', 'Confirming'].includes(state) || (state === 'Waiting' && !patient.has(reason))
      )
      return instances.length > 0 && busy.length === 0 && instances
    },
    patienceMs
  ).catch(async (err: unknown) => {
    t.comment(JSON.stringify(await stored(), undefined, 1))
    throw err
  })
  mark('what can be moved has moved')
  const entryOf = (name: string) => settled.find(({ id }) => id === idOf(name))
  const left = (await present(cloud, hv1)).map(({ id }) => id)
  const told = settled.filter(
    ({ state, id }) => state !== 'Done' && state !== 'Gone' && !(awaitsUser.has(id) && !left.includes(id))
  )
  t.strictSame(told.map(({ id }) => id).toSorted(), left.toSorted(), "those that are told to be left are those of Nova's list")
  for (const { id, destination } of settled.filter(({ state }) => state === 'Done')) {
    const moved = await cloud.servers.get(id)
    if (moved?.status !== 'SHELVED_OFFLOADED')
      t.match(moved, { host: destination, taskState: null }, 'Done is where it is said to be')
  }
  for (const name of [...plain, 'stopped-later', 'locked', 'off', 'off-too', 'paused', 'shelved'])
    t.match(entryOf(name), { state: 'Done' }, name)
  for (const name of ['deleted', 'deleted-later']) t.match(entryOf(name)?.state ?? 'Gone', /Gone|Done/, name)
  for (const [name, reason] of Object.entries(blocked)) t.match(entryOf(name), { state: 'Blocked', reason }, name)
  t.match(entryOf('fails'), { state: 'Failed', reason: 'MoveFailed', attempts: 2 }, 'EV-12')
  t.match(entryOf('giant'), { state: 'Waiting', reason: 'NoCapacity' })
  t.match(entryOf('resized'), { state: 'Waiting', reason: 'ResizeAwaitsUser' })
  t.not((await cloud.servers.get(idOf('incoming')))?.host, hv1, 'EV-5: nobody arrived behind our back')
  for (const [name, shows] of Object.entries({
    off: 'SHUTOFF',
    'off-too': 'SHUTOFF',
    paused: 'PAUSED',
    shelved: 'SHELVED_OFFLOADED'
  }))
    t.equal((await cloud.servers.get(idOf(name)))?.status, shows, `${name} stays as it was`)
  t.equal((await cloud.servers.get(idOf('locked')))?.locked, true, 'EV-8')
  t.strictSame([...verdicts], [], 'no verdict while somebody waits for room or for its user')

  // people decide: a resize is confirmed, the rest is deleted
  if ((await cloud.servers.get(idOf('resized-later')))?.status === 'VERIFY_RESIZE')
    await cloud.servers.confirmResize(idOf('resized-later'))
  for (const id of left) await cloud.servers.delete(id)
  await eventually(
    'the success',
    async () => {
      await fn.tick('slow')
      await check()
      return (await stored())?.verdict === 'Succeeded'
    },
    patienceMs
  )
  t.strictSame(await present(cloud, hv1), [], 'EV-23')
  mark('the host is empty')
  await stopTelling()
  await fn.kill()
})

/** Nova refuses while a move is under way: a user tries again. */
async function untilTaken(run: () => Promise<void>): Promise<void> {
  await eventually(
    'Nova to take it',
    () =>
      run().then(
        () => true,
        () => false
      ),
    patienceMs
  )
}
