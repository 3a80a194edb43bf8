// functions/ha under its own role on the real API server and the real Nova: what Nova's own record says of users decides (T-20), a server that
// died is restarted by Nova, a host without its bond takes no more servers until it is well.
import t, { type Test } from 'tap'
import { domainCrashed, domainStopped } from '../../../shared/events/libvirt.ts'
import { bondLost, bondRestored } from '../../../shared/events/ovs.ts'
import { Event } from '../../../shared/kube/index.ts'
import { Eviction } from '../../../shared/schema/eviction.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { OVSNode } from '../../../shared/schema/ovs-node.ts'
import { condition } from '../host-life/fixtures.ts'
import { eventually, patienceMs } from '../../servers/eventually.ts'
import { ownKubernetes } from '../../servers/kubernetes.ts'
import { rightsOf } from '../../servers/rights.ts'
import { novaStage } from './nova-stage.ts'

t.setTimeout(1_800_000)
const api = await ownKubernetes(t)
const asked = ['stopped', 'rebooted', 'suspended', 'paused', 'deleted', 'shelved', 'resized', 'migrated', 'live-migrated']
const rules =
  'mode: drover\nhost: { enableSeconds: 1 }\nnetwork: { migrationBonds: [bond1] }\ncorrelation: { vms: 1000 }\nvm: { provenSeconds: 2 }\n'
const stage = await novaStage(t, api, ['killed', 'guest', 'stuck', ...asked], rules)
const { target, host, admin, cloud, raw, running, serviceId, id, act, domains, ends, fact, actions } = stage
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const reboots = (name: string) => actions(name, 'reboot')

const explained = (token?: string) =>
  fetch(`${running.url('ha')}/explain/${host}`, {
    headers: { accept: 'text/plain', ...(token && { authorization: `Bearer ${token}` }) }
  })

/** The file is read again within a second or so; how signals are answered tells which one holds. */
async function policy(text: string, signals: 'observe' | 'drover'): Promise<void> {
  await stage.rules(`${text}signals: ${signals}\n`)
  const holds = async () => (await (await explained(api.adminToken)).text()).includes(`signals: mode ${signals}`)
  await eventually(`the policy with the signals ${signals}`, holds, patienceMs)
}

interface Flavor {
  id: string
  ram: number
  vcpus: number
  disk: number
}

async function biggerFlavor(t: Test): Promise<string> {
  const known = (await raw('compute', 'GET', `/flavors/${target.flavorId}`)).body as { flavor: Flavor }
  const { ram, vcpus, disk } = known.flavor
  const flavor = { name: 'ha-bigger', ram: ram + 1, vcpus, disk }
  const made = (await raw('compute', 'POST', '/flavors', { flavor })).body as { flavor: Flavor }
  t.teardown(() => raw('compute', 'DELETE', `/flavors/${made.flavor.id}`))
  return made.flavor.id
}

t.test('T-20: what a user asked Nova for is never repaired', async t => {
  const bigger = await biggerFlavor(t)
  const wishes: Array<[name: string, ask: () => Promise<unknown>]> = [
    ['stopped', () => act('stopped', 'os-stop')],
    ['rebooted', () => act('rebooted', 'reboot', { type: 'HARD' })],
    ['suspended', () => act('suspended', 'suspend')],
    ['paused', () => act('paused', 'pause')],
    ['resized', () => act('resized', 'resize', { flavorRef: bigger })],
    ['migrated', () => act('migrated', 'migrate')],
    ['live-migrated', () => cloud.servers.liveMigrate(id('live-migrated'))],
    ['deleted', () => cloud.servers.delete(id('deleted'))],
    ['shelved', () => act('shelved', 'shelve')]
  ]
  await Promise.all(wishes.map(([, ask]) => ask()))
  await domains(Object.fromEntries(wishes.map(([name]) => [name, 'off'])))
  const told = wishes.map(([name]) => running.post('ha', domainCrashed.type, fact(name, 'stopped', 'failed'), { traceparent }))
  t.ok((await Promise.all(told)).every(status => status === 204))
  for (const [name] of wishes) {
    const { state, rule, reason, decisionId } = await ends(name)
    const { history = [] } = (await admin.find(Hypervisor, host))?.status?.ha ?? {}
    const passedOver = history.find(one => one.decisionId === decisionId)?.passedOver ?? []
    t.equal(state, 'Closed', `${name}: ${rule}: ${reason}`)
    t.not(rule, 'Fault')
    t.ok(passedOver.length > 0 || rule === 'NotInNova', 'and it says why not otherwise')
    if (name !== 'deleted') t.equal((await reboots(name)).length, name === 'rebooted' ? 1 : 0)
  }
})

t.test('a server whose domain died is restarted by Nova, under the trace of the event, and once', async t => {
  await domains({ killed: 'off', guest: 'off' })
  const died = fact('killed', 'stopped', 'failed')
  await running.post('ha', domainCrashed.type, died, { traceparent })
  await running.post('ha', domainCrashed.type, died, { traceparent })
  await running.post('ha', domainStopped.type, { ...fact('guest', 'stopped', 'shutdown'), cause: 'by-guest' })
  const [first] = await eventually(
    'a hard reboot',
    async () => {
      await running.tick('fast', 'ha')
      const found = await reboots('killed')
      return found.length > 0 ? found : undefined
    },
    patienceMs
  )
  await domains({ killed: 'running' })
  const { state, attempts = [] } = await ends('killed')
  t.equal(state, 'Recovered')
  t.equal(attempts[0]?.request, first?.requestId, "Nova's own request id is in the record")
  t.equal((await reboots('killed')).length, 1)
  t.equal((await ends('guest')).state, 'Closed', 'the guest stopped itself')
  t.strictSame(await reboots('guest'), [])
  const events = (await admin.list(Event, { namespace: 'default' })).items as Array<{ reason?: string; note?: string }>
  t.ok(events.some(({ reason }) => reason === 'ServerRecovered'))
})

t.test('T-14: Nova takes a move (202) for which there is no host: it is given up at once, in the words of Nova', async t => {
  const moved = 'provenSeconds: 2, restarts: 1, restartSeconds: 1, moveOnRepeat: true'
  await policy(rules.replace('provenSeconds: 2', moved), 'observe')
  const others = (await cloud.services.list({ binary: 'nova-compute' })).filter(
    one => one.host !== host && one.status === 'enabled'
  )
  const set = (status: 'enabled' | 'disabled') =>
    Promise.all(
      others.map(({ id }) =>
        cloud.services.update(id, status === 'disabled' ? { status, disabledReason: 'nobody may go there' } : { status })
      )
    )
  t.teardown(() => set('enabled'))
  await set('disabled')
  await domains({ stuck: 'off' })
  await running.post('ha', domainCrashed.type, fact('stuck', 'stopped', 'failed'), { traceparent })
  const { state, reason, attempts = [] } = await ends('stuck')
  t.equal(state, 'Blocked')
  const move = attempts.find(({ action }) => action === 'move')
  const [asked] = await actions('stuck', 'migrate')
  t.equal(move?.request, asked?.requestId, "Nova's own request id is in the record")
  t.match(move?.outcome, /^failed: No valid host was found/)
  t.match(reason, /The last move: failed: No valid host was found/)
  await policy(rules, 'drover')
})

const network = async (...issues: string[]): Promise<void> => {
  const at = new Date().toISOString()
  await admin.applyStatus(OVSNode, {
    metadata: { name: host, namespace: 'ovn-system' },
    status: {
      observedAt: at,
      conditions: [
        condition('Ready', issues.length > 0 ? 'False' : 'True', issues.length > 0 ? 'BondDown' : 'AllHealthy')
      ] as never,
      issues: issues.map(type => ({
        id: `${type}/bond0`,
        severity: 'Critical' as const,
        type,
        object: 'bond0',
        message: `${type}.`,
        detectedAt: at
      }))
    }
  })
}
const service = async () => (await cloud.services.list({ host, binary: 'nova-compute' }))[0]
const link = (after: string) => ({
  node: host,
  object: 'bond0',
  after,
  reason: 'BondDown',
  detectedAt: new Date().toISOString(),
  evidence: {}
})
const becomes = (status: string) =>
  eventually(
    `a service that is ${status}`,
    async () => {
      await running.tick('fast', 'ha', 'maintenance')
      const now = await service()
      return now?.status === status ? now : undefined
    },
    patienceMs
  )

t.test('a lost bond keeps new servers away until it is back; what somebody else disabled stays so', async t => {
  await admin.create(OVSNode, { metadata: { name: host, namespace: 'ovn-system' }, spec: { nodeRef: { name: host } } })
  await network('BondDown')
  await running.post('ha', bondLost.type, link('down'))
  const disabled = await becomes('disabled')
  t.match(disabled.disabledReason, /^drover: ha: BondLost bond0 \(drover-ha\)$/)
  const stored = await admin.find(Hypervisor, host)
  t.match(stored?.status?.ha, { state: 'Unschedulable', signals: [{ kind: 'BondLost', object: 'bond0', effect: 'drain' }] })
  const says = async () =>
    (await admin.find(Hypervisor, host))?.status?.conditions?.find(({ type }) => type === 'HypervisorDisabled')
  await eventually(
    'what maintenance says of it',
    async () => {
      await running.tick('fast', 'maintenance')
      const found = await says()
      return found?.status === 'True' && found.message.includes('drover-ha') ? found : undefined
    },
    patienceMs
  )
  const drain = await eventually(
    'a drain: the migration network works',
    async () => {
      await running.tick('fast', 'ha')
      return (await admin.list(Eviction)).items.find(({ spec }) => spec.hypervisor === host)
    },
    patienceMs
  )
  t.match(drain, { metadata: { name: new RegExp(`^${host}-ha-`) }, spec: { reason: 'ha: BondLost bond0' } })
  t.equal((await service())?.status, 'disabled', 'maintenance leaves to ha what is of ha')
  await network()
  await running.post('ha', bondRestored.type, link('up'))
  await becomes('enabled')
  t.strictSame((await admin.list(Eviction)).items, [], 'the drain is called off')

  const foreign = { status: 'disabled' as const, disabledReason: 'new disks, jane' }
  await cloud.services.update(serviceId, foreign)
  await network('BondDown')
  await running.post('ha', bondLost.type, link('down'))
  await network()
  await running.post('ha', bondRestored.type, link('up'))
  await running.tick('slow', 'ha')
  t.match(await service(), foreign)
  await cloud.services.update(serviceId, { status: 'enabled' })
})

t.test('explain asks the API server who may ask', async t => {
  t.equal((await explained()).status, 401)
  t.equal((await explained('nobody')).status, 401)
  const forbidden = await explained(api.devToken)
  t.equal(forbidden.status, 403, 'somebody who may not read the host')
  t.equal(await forbidden.text(), `dev may not get the hypervisor ${host}\n`)
  const answer = await explained(api.adminToken)
  t.equal(answer.status, 200)
  const words = await answer.text()
  t.match(words, /Servers: mode drover; signals: mode drover/)
  t.match(words, /because RequestExplains|because TaskExplains|because NovaState|because NotInNova/)
})

t.test('the role is the smallest that works', async t => {
  t.strictSame(await rightsOf(api, 'ha.yaml', 'ha'), { unused: [], refused: [] })
})
