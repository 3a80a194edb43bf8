// NA-31: the whole hypervisor agent and the whole OVS agent on simulated daemons, without a cluster, and what the simulator promises itself.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, LibvirtError, procedures } from 'node-libvirt'
import t from 'tap'
import { catalogue, isActionName, shownActions } from '../../../shared/local/fleet/actions/catalogue.ts'
import { checkArguments } from '../../../shared/local/fleet/actions/perform.ts'
import { paceOf } from '../../../shared/local/fleet/agents.ts'
import { SimHost } from '../../../shared/local/fleet/host.ts'
import { planFleet } from '../../../shared/local/fleet/plan.ts'
import { seeded } from '../../../shared/local/fleet/random.ts'
import { parseScenario } from '../../../shared/local/fleet/scenario.ts'
import { Guests } from '../../../shared/local/fleet/guests.ts'
import { breakMove, manualClock, realClock, startOpenStack } from '../../../shared/local/openstack/index.ts'
import { startLive } from '../../../shared/local/openstack/world/live-moves.ts'
import { agent, broker, kubeconfigOfNobody } from '../../agents/hypervisor/harness.ts'
import { startOvsAgent, startSink } from '../../agents/ovs/lab.ts'
import { eventually } from '../../servers/eventually.ts'
import { matchWhole } from '../../assert/match-whole.ts'

t.setTimeout(120_000)
const folder = await mkdtemp(join(tmpdir(), 'f-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))
const random = seeded(1)
const host = new SimHost({
  plan: { name: 'sim-1', zone: 'z', block: 'b', number: 0, address: '10.0.0.1', vms: [] },
  folder,
  clock: realClock,
  newUuid: () => random.uuid(),
  bootedMs: Date.now() - 4_711_000
})
await host.start()
t.teardown(() => host.close())

const wishes = { hosts: 4, zones: 2, vms: 3, seed: 7 }

t.test('one seed, one plan', async t => {
  t.strictSame(planFleet(wishes), planFleet(wishes))
  t.strictNotSame(planFleet(wishes)[0]?.vms, planFleet({ ...wishes, seed: 8 })[0]?.vms)
  t.strictSame(
    planFleet({ ...wishes, hosts: 12, zones: 3 })
      .map(({ name, block }) => `${name} ${block}`)
      .slice(0, 5),
    ['node001-zone-a bb-a1', 'node002-zone-a bb-a1', 'node003-zone-a bb-a2', 'node004-zone-a bb-a2', 'node001-zone-b bb-b1']
  )
  t.equal(
    new Set(planFleet({ hosts: 1000, zones: 3, vms: 50, seed: 1 }).flatMap(({ vms }) => vms.map(({ id }) => id))).size,
    50_000
  )
})

t.test('agents of a large fleet speak more seldom, but never so seldom that they count as silent', async t => {
  t.strictSame(paceOf(1), { hypervisor: {}, ovs: {} }, 'as they are shipped')
  const staleMs = 90_000 // HEARTBEAT_STALE of functions/hypervisor, agentSeconds of functions/ha
  for (const hosts of [25, 73, 200, 1000]) {
    const { STATUS_BEAT = '', HEARTBEAT = '' } = paceOf(hosts / 24).hypervisor
    const [statusMs, beatMs] = [STATUS_BEAT, HEARTBEAT].map(text => Number.parseInt(text, 10)) as [number, number]
    t.ok(2 * statusMs <= staleMs, `${hosts} hosts: ${STATUS_BEAT}`)
    t.ok(statusMs + beatMs < staleMs, `${hosts} hosts: what is written after ${STATUS_BEAT} is up to ${HEARTBEAT} old`)
  }
})

/** Two hosts of which one gives a server to the other and takes one that fails, on a clock moved by hand. */
async function history(): Promise<string[]> {
  const clock = manualClock()
  const ids = seeded(3)
  const cloud = await startOpenStack({ clock, newId: () => ids.uuid(), hosts: ['a', 'b'] })
  const told: string[] = []
  const hosts = new Map(
    ['a', 'b'].map(name => {
      const plan = { name, zone: 'z', block: 'b', number: 0, address: '10.0.0.1', vms: [] }
      const host = new SimHost({ plan, folder, clock, newUuid: () => ids.uuid(), bootedMs: 0 })
      host.domains.listen(event =>
        told.push(`${clock.now()} ${name} ${event.kind === 'lifecycle' ? `${event.event}/${event.detail}` : event.kind}`)
      )
      return [name, host] as const
    })
  )
  new Guests(cloud.world, hosts, () => {}).watch()
  const server = cloud.addServer({ name: 'web-1', host: 'a' })
  cloud.host('a').liveMoveMs = 4000
  startLive(cloud.world, server, 'b', 'req-1')
  clock.advance(60_000)
  startLive(cloud.world, server, 'a', 'req-2')
  clock.advance(50)
  const record = cloud.world.migrations[0]
  if (record) breakMove(cloud.world, record)
  clock.advance(60_000)
  await cloud.close()
  return told
}

t.test('one history: every event of libvirt, in the order of the real one, the same each time', async t => {
  const first = await history()
  t.strictSame(await history(), first)
  const what = first.map(line => line.split(' ').slice(1).join(' '))
  t.strictSame(
    what.filter(line => !line.includes('iteration')),
    [
      'a defined/added',
      'a resumed/unpaused',
      'a started/booted',
      'b started/migrated',
      'a suspended/migrated',
      'a stopped/migrated',
      'a job-completed',
      'a undefined/removed',
      'b resumed/migrated',
      'b defined/added',
      'a started/migrated',
      'a stopped/failed'
    ]
  )
})

t.test('libvirt refuses as the real one does', async t => {
  const virt = await connect(host.libvirtUri)
  const nobody = { name: 'x', uuid: random.uuid(), id: -1 }
  await t.rejects(virt.domainState(nobody), { code: 'no-domain' })
  const off = await virt.call(procedures.domainDefineXml, { xml: '<domain><name>off</name></domain>' })
  await t.rejects(virt.call(procedures.domainSuspend, { domain: off }), { code: 'invalid-state' })
  await t.rejects(virt.nodeCpuStats(), LibvirtError, 'a procedure that is not simulated')
  t.match(await virt.call(procedures.nodeGetInfo), { model: 'x86_64', cpus: 96, numaNodes: 2 })
  await virt.call(procedures.domainUndefine, { domain: off })
  await virt.close()
})

t.test('NA-31: the hypervisor agent lives on it: a guest, its faults, its end, and libvirt killed', async t => {
  const sink = await broker(t)
  await agent(t, {
    NODE_NAME: 'sim-1',
    KUBECONFIG: await kubeconfigOfNobody(folder),
    K_SINK: sink.url,
    LIBVIRT_URI: host.libvirtUri,
    HOST_ROOT: folder,
    STATE_FOLDER: join(folder, 'state'),
    HEARTBEAT: '200ms'
  })
  await sink.seen('instances.reported', ({ data }) => data['full'] === true)
  const beat = await sink.seen('heartbeat.sent', ({ data }) => data['uptimeSeconds'] >= 4711)
  t.equal(beat.data['bootId'], host.bootId)
  const guest = host.domains.define({ uuid: random.uuid(), name: 'g1', vcpus: 2, memoryMiB: 512 })
  host.domains.start(guest)
  await sink.seen('domain.changed', ({ data }) => data['server'] === guest.uuid && data['event'] === 'started')
  const domain = { name: guest.name, uuid: guest.uuid, id: guest.id }
  host.domains.tell({ kind: 'watchdog', domain, action: 'reset' })
  t.match((await sink.seen('watchdog.fired')).data, { action: 'reset' })
  host.domains.tell({ kind: 'io-error-reason', domain, path: '/d', device: 'vda', action: 'pause', reason: 'enospc' })
  t.match((await sink.seen('disk.failed')).data, { device: 'vda', reason: 'enospc', action: 'pause' })
  host.domains.tell({
    kind: 'memory-failure',
    domain,
    recipient: 'guest',
    action: 'inject',
    actionRequired: true,
    recursive: false
  })
  t.match((await sink.seen('memory.failed')).data, { recipient: 'guest', actionRequired: true })
  host.domains.tell({ kind: 'agent-lifecycle', domain, state: 'disconnected', reason: 'channel' })
  await sink.seen('guest-agent.disconnected')
  host.domains.tell({ kind: 'control-error', domain })
  await sink.seen('domain-control.lost')
  await host.stopLibvirt()
  await sink.seen('libvirt.lost')
  host.domains.stop(guest, 'crashed')
  await host.startLibvirt()
  await sink.seen('domain.crashed', ({ data }) => data['server'] === guest.uuid)
  t.strictSame(sink.malformed, [])
})

t.test('NA-31: the OVS agent lives on it: a cable, the bond, OVN', async t => {
  const sink = await startSink(t)
  await startOvsAgent(t, {
    dir: join(folder, '..'),
    node: folder.slice(folder.lastIndexOf('/') + 1),
    kubeconfig: await kubeconfigOfNobody(folder),
    namespace: 'ovn-system',
    sink: sink.url,
    timings: { linkStableMs: 50, ovnLostMs: 50, livenessMs: 50 }
  })
  const [first, second] = host.vswitch.links
  if (!first || !second) throw new Error('a bond of two')
  // the first word of the agent may come before its first look
  await eventually('a lost member', async () => {
    host.vswitch.setLink(first, !first.up)
    return sink.heard.length > 0
  })
  host.vswitch.setLink(first, false)
  host.vswitch.setLink(second, false)
  t.match((await sink.next('bond.lost', 'bond0')).data, { evidence: { bridge: 'br-ex' } })
  for (const link of [first, second]) host.vswitch.setLink(link, true)
  await sink.next('bond.restored', 'bond0')
  host.ovn.connected = false
  await sink.next('ovn-controller.disconnected', 'ovn-controller')
  host.ovn.connected = true
  await sink.next('ovn-controller.reconnected', 'ovn-controller')
})

t.test('the catalogue: what undoes is in it and takes no more than what it undoes', async t => {
  for (const { name, undo, does } of shownActions()) {
    t.match(does, /^[A-Z].*\.$/, name)
    if (undo === undefined) continue
    t.ok(isActionName(undo), `${name} → ${undo}`)
    if (!isActionName(undo) || !isActionName(name)) continue
    const [has, needs] = [Object.keys(catalogue[name].args), Object.keys(catalogue[undo].args)]
    t.ok(
      needs.every(arg => has.includes(arg)),
      `${name} → ${undo}`
    )
  }
  t.strictSame(checkArguments('reboot-host', { host: 'a' }), { host: 'a', seconds: 20 }, 'defaults')
  t.throws(() => checkArguments('pull-cable', {}), /pull-cable.*host.*it takes host, link/)
  t.throws(() => checkArguments('pull-cable', { host: 'a', colour: 'red' }), /it takes host, link/)
})

t.test('a scenario is checked whole before it begins', async t => {
  const file = (step: string) => `title: t\nsteps: [{ at: 5s, ${step} }]`
  matchWhole(t, parseScenario(file('do: stop-nova')).steps, [{ atMs: 5000, name: 'stop-nova', args: {} }])
  t.throws(() => parseScenario(file('do: dance')), /at 5s: there is no action dance/)
  t.throws(() => parseScenario(file('do: kill-libvirt')), /kill-libvirt/)
  t.throws(() => parseScenario('title: t\nsteps: [{ at: soon, do: stop-nova }]'), /steps\/0\/at/)
})
