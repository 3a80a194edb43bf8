// A host whose network breaks: a real Open vSwitch with LACP against a second switch, the OVS agent, functions/ha under its own role on a real API
// server that the cluster agent watches. Nova is the fake one.
import t from 'tap'
import { Event } from '../../../shared/kube/index.ts'
import { Eviction } from '../../../shared/schema/eviction.ts'
import { ovsNeeded } from '../../ovsdb-client/real.ts'
import { eventually } from '../../servers/eventually.ts'
import { asServiceAccount } from '../../servers/identity.ts'
import { ownKubernetes } from '../../servers/kubernetes.ts'
import { startOvsLab } from '../../servers/ovs.ts'
import { condition, startOvsAgent, statusWhen } from '../../agents/ovs/lab.ts'
import { bondAgainstSwitch, ovnOnTop } from './cables.ts'
import { patienceMs, stage } from './stage.ts'

await ovsNeeded()
t.setTimeout(900_000)
const host = 'n1'
const api = await ownKubernetes(t)
// bond1 is of migration and not in this switch: it works
const policy = 'host: { enableSeconds: 1 }\nnetwork: { bridgeSeconds: 2, ovnSeconds: 4, migrationBonds: [bond1] }\n'
const { fake, admin, running, ha, look, service, nova } = await stage(t, api, host, policy)
await running.watch()
const lab = await startOvsLab(t, bondAgainstSwitch)
await startOvsAgent(t, {
  dir: lab.dir,
  node: host,
  kubeconfig: await asServiceAccount(t, api, 'ovs-agent.yaml', 'ovs-agent'),
  namespace: 'ovn-system',
  sink: await running.relay(),
  env: { EXPECTED_BRIDGES: 'br-int,br-provider' },
  timings: { flapWindowMs: 1000 } // the tests break the same links again and again
})

/** What the host's signals are, once they are just these. */
const signals = (...wanted: string[]) =>
  eventually(
    `the signals ${wanted.join()}`,
    async () => {
      const { signals = [] } = await ha()
      return [...new Set(signals.map(({ kind }) => kind))].join() === wanted.join() ? signals : undefined
    },
    patienceMs
  )
const updates = (): number => fake.requests.filter(({ method, path }) => method === 'PUT' && path.includes('os-services')).length
const set = (state: 'up' | 'down', ...cables: string[]): void =>
  void lab.run(cables.map(cable => `ip -n tor link set ${cable} ${state}`).join('; '))

await statusWhen(
  admin,
  'ovn-system',
  host,
  'a healthy node',
  status => condition(status, 'Ready') === 'True/AllHealthy' && status.issueCount === 0
)
await signals()
await service('enabled') // before LACP was settled there may have been no bond

t.test('AG-14, HA §2: one member of the bond is pulled: a warning, and nothing else', async t => {
  const before = updates()
  set('down', 't10')
  t.match(await signals('NetworkDegraded'), [{ object: /^bond0/, effect: 'alert' }])
  await eventually('an Event of the host', async () => {
    const { items } = await admin.list(Event, { namespace: 'default' })
    return items.some(({ reason, regarding }) => reason === 'NetworkDegraded' && regarding?.name === host)
  })
  t.equal((await ha()).state, 'Degraded')
  t.equal(fake.host(host).status, 'enabled')
  t.equal(updates(), before, 'Nova was asked for nothing')
  t.strictSame((await admin.list(Eviction)).items, [], 'no drain')
})

t.test('HA §2: both are pulled: no new servers at once, and a drain; healed: both are taken back', async t => {
  set('down', 't11')
  t.match(await service('disabled'), { disabledReason: 'drover: ha: BondLost bond0 (drover-ha)' })
  const found = (await ha()).signals?.find(({ kind }) => kind === 'BondLost')
  t.match(found, { object: 'bond0', effect: 'drain' })
  const drain = await eventually('a drain', async () => (await admin.list(Eviction)).items[0], patienceMs)
  t.match(drain, { spec: { hypervisor: host, reason: 'ha: BondLost bond0' } }, 'the migration network works')
  set('up', 't10', 't11')
  t.match(await service('enabled'), { disabledReason: null })
  t.strictSame((await admin.list(Eviction)).items, [], 'the drain is called off')
  await signals()
})

t.test('HV-32: what somebody else disabled is not touched, whatever breaks and heals', async t => {
  const reason = 'new disks, jane'
  const { serviceId } = fake.host(host)
  await nova('PUT', `/os-services/${serviceId}`, { status: 'disabled', disabled_reason: reason })
  const before = updates()
  set('down', 't10', 't11')
  await eventually('the signal', async () => (await ha()).signals?.some(({ kind }) => kind === 'BondLost'), patienceMs)
  set('up', 't10', 't11')
  await signals()
  t.equal(await look(), 204)
  t.match(fake.host(host), { status: 'disabled', disabledReason: reason })
  t.equal(updates(), before)
  await nova('PUT', `/os-services/${serviceId}`, { status: 'enabled' })
  await eventually('no drain', async () => (await admin.list(Eviction)).items.length === 0, patienceMs)
})

t.test(
  'HA §2: the switch daemon is killed: no new servers after the time of the policy, no drain; enabled when it is back',
  async t => {
    const began = Date.now()
    lab.run('kill -KILL $(cat $DIR/n1/ovs-vswitchd.pid)')
    t.match(await service('disabled'), { disabledReason: /^drover: ha: VswitchdLost .*\(drover-ha\)$/ })
    t.ok(Date.now() - began >= 2000, 'not before its time')
    t.strictSame((await admin.list(Eviction)).items, [])
    lab.run('node.sh n1 n1')
    await service('enabled')
    await signals()
  }
)

t.test('HA §2: ovn-controller is cut off: no new servers after the time of the policy, and never a drain', async t => {
  lab.run(ovnOnTop)
  await statusWhen(admin, 'ovn-system', host, 'a chassis', ({ ovnController }) => ovnController?.connected)
  await signals()
  const began = Date.now()
  lab.run('kill -KILL $(cat $DIR/central/sb.pid)')
  t.match(await service('disabled'), { disabledReason: /OvnDisconnected ovn-controller.*\(drover-ha\)$/ })
  t.ok(Date.now() - began >= 4000, 'not before its time')
  t.match(
    (await ha()).signals?.find(({ kind }) => kind === 'OvnDisconnected'),
    { effect: 'disable', message: /never drained/ }
  )
  t.strictSame((await admin.list(Eviction)).items, [])
  lab.run('ovn-central.sh central')
  await service('enabled')
  await signals()
})

t.test(
  'T-6, HA §2: the switch database is lost while the bond is: what nobody can see heals nothing; back, all is followed again',
  async t => {
    const has = async (kind: string): Promise<boolean> => (await ha()).signals?.some(signal => signal.kind === kind) ?? false
    set('down', 't10', 't11')
    await service('disabled')
    lab.run('kill -KILL $(cat $DIR/n1/ovsdb-server.pid)')
    await eventually('its loss', () => has('OvsdbLost'), patienceMs)
    t.ok(await has('BondLost'), 'what was lost is not taken for healed')
    set('up', 't10', 't11')
    t.equal(await look(), 204)
    t.ok(await has('BondLost'), 'nor what healed since: nobody can know')
    t.match(fake.host(host), { status: 'disabled', disabledReason: /\(drover-ha\)$/ })
    lab.run('node.sh n1 n1')
    await service('enabled')
    await signals()
    set('down', 't10')
    await signals('NetworkDegraded')
    set('up', 't10')
    await signals()
  }
)
