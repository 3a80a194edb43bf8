// Every row of ha.md §2 that is about a host: what breaks, heals and is told, twice, late and out of order, to two processes that die between note
// and call: the same end (HV-32, HA-17).
import t from 'tap'
import type { Engine } from '../../../functions/ha/engine.ts'
import type { EventKind } from '../../../shared/events/kind.ts'
import * as libvirt from '../../../shared/events/libvirt.ts'
import { Node } from '../../../shared/kube/kinds.ts'
import { Eviction } from '../../../shared/schema/eviction.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { OVSNode } from '../../../shared/schema/ovs-node.ts'
import { condition } from '../host-life/fixtures.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { lab, type Lab } from './lab.ts'
import { mortalKube, pass, random, untilTold } from './mortal.ts'

t.setTimeout(600_000) // of the whole file: that of a test ends no later than that of its file

const namespace = 'ovn-system'
const policy = 'network: { migrationBonds: [bond1], managementBonds: [mgmt] }'
type Told = readonly [kind: EventKind, data: Record<string, unknown>, afterMs: number]

interface Row {
  name: string
  /** what the agents and Kubernetes write; left out: nothing of it */
  issue?: readonly [type: string, object: string]
  libvirt?: 'lost'
  node?: { type: string; status: string }
  /** seconds since the last sign of life of the agent */
  silent?: number
  /** what is told, and what is told when it is over */
  told?: readonly Told[]
  over?: readonly Told[]
  /** somebody else has disabled it */
  jane?: true
  comes: { signal: string; disabled?: string; drained?: true; kept?: true }
}

const memory = (action: string, afterMs: number): Told => [libvirt.memoryFailed, { recipient: 'hypervisor', action }, afterMs]
const rows: readonly Row[] = [
  { name: 'bond lost', issue: ['BondDown', 'bond0'], comes: { signal: 'BondLost', disabled: 'BondLost bond0', drained: true } },
  { name: 'bond lost, disabled by jane', issue: ['BondDown', 'bond0'], jane: true, comes: { signal: 'BondLost', drained: true } },
  { name: 'bond of the management network', issue: ['BondDown', 'mgmt'], comes: { signal: 'BondLost' } },
  { name: 'bond member', issue: ['BondMemberDown', 'eth1'], comes: { signal: 'NetworkDegraded' } },
  { name: 'LACP', issue: ['LacpNotCurrent', 'eth1'], comes: { signal: 'NetworkDegraded' } },
  { name: 'bridge', issue: ['BridgeMissing', 'br-int'], comes: { signal: 'BridgeLost', disabled: 'BridgeLost br-int' } },
  { name: 'switch daemon', issue: ['VswitchdLost', 'vs'], comes: { signal: 'VswitchdLost', disabled: 'VswitchdLost vs' } },
  { name: 'switch database', issue: ['OvsdbLost', 'db'], comes: { signal: 'OvsdbLost', disabled: 'OvsdbLost db' } },
  { name: 'OVN', issue: ['OvnControllerDisconnected', 'c'], comes: { signal: 'OvnDisconnected', disabled: 'OvnDisconnected c' } },
  { name: 'flows', issue: ['FlowsWiped', 'br-int'], comes: { signal: 'FlowsOutdated' } },
  { name: 'libvirt lost', libvirt: 'lost', comes: { signal: 'LibvirtLost', disabled: 'LibvirtLost' } },
  { name: 'agent silent', silent: 100, comes: { signal: 'AgentSilent' } },
  { name: 'node not ready', node: { type: 'Ready', status: 'False' }, comes: { signal: 'NodeNotReady' } },
  {
    name: 'node pressure',
    node: { type: 'DiskPressure', status: 'True' },
    comes: { signal: 'NodePressure', disabled: 'NodePressure DiskPressure' }
  },
  {
    name: 'memory, fatal',
    told: [memory('fatal', 0)],
    comes: { signal: 'MemoryFailing', disabled: 'MemoryFailing', drained: true }
  },
  {
    name: 'memory, three times',
    told: [memory('ignore', 0), memory('ignore', 1000), memory('ignore', 2000)],
    comes: { signal: 'MemoryFailing', disabled: 'MemoryFailing', drained: true }
  },
  { name: 'memory, twice', told: [memory('ignore', 0), memory('ignore', 1000)], comes: { signal: 'MemoryFailing' } },
  {
    name: 'shutdown wanted, and called off',
    told: [[libvirt.shutdownRequested, { budgetSeconds: 60 }, 0]],
    over: [[libvirt.shutdownCancelled, {}, 30_000]],
    comes: { signal: 'ShutdownRequested' }
  },
  { name: 'kernel dump', told: [[libvirt.kernelCrashed, {}, 0]], comes: { signal: 'KernelCrashed', kept: true } }
]
const hosts = rows.map((_, n) => `hv${n}`)

const settled = condition('Onboarding', 'False')

/** What the agents and Kubernetes write of a host: as its row says, or that it is well. */
async function write(it: Lab, host: string, row: Partial<Row>): Promise<void> {
  const nowMs = it.clock.now()
  const at = new Date(nowMs).toISOString()
  const issues = row.issue ? [row.issue] : []
  await it.admin.applyStatus(OVSNode, {
    metadata: { name: host, namespace },
    status: {
      observedAt: at,
      conditions: [condition('Ready', issues.length > 0 ? 'False' : 'True')] as never,
      issues: issues.map(([type, object]) => ({
        id: `${type}/${object}`,
        severity: 'Critical' as const,
        type,
        object,
        message: `${type}.`,
        detectedAt: at
      }))
    }
  })
  const link = { ...condition('LibVirtConnection', row.libvirt ? 'False' : 'True'), lastTransitionTime: at }
  const lastHeartbeat = row.silent === undefined ? null : new Date(nowMs - row.silent * 1000).toISOString()
  const agent = { bootId: 'boot-1', lastHeartbeat, uptimeSeconds: null }
  const status = { conditions: [settled, link], agent }
  await it.admin.patch(Hypervisor, { name: host }, { status }, { subresource: 'status' })
  const { type = 'Ready', status: is = 'True' } = row.node ?? {}
  const conditions = [...(type === 'Ready' ? [] : [{ type: 'Ready', status: 'True' }]), { type, status: is }]
  await it.admin.patch(Node, { name: host }, { status: { conditions } }, { subresource: 'status' })
}

/** The host was looked after and booted: its memory is another one. */
const booted = (it: Lab, host: string): Promise<unknown> =>
  it.admin.patch(
    Hypervisor,
    { name: host },
    { status: { agent: { bootId: 'boot-1', lastHeartbeat: new Date(it.clock.now()).toISOString(), uptimeSeconds: 1 } } },
    { subresource: 'status' }
  )

t.test('disabled, drained, called off and enabled, each once; nobody else’s disable', async t => {
  const it = await lab(t, hosts, 1)
  for (const name of hosts) {
    await it.admin.create(OVSNode, { metadata: { name, namespace }, spec: { nodeRef: { name } } })
    await it.admin.create(Node, { metadata: { name } })
  }
  for (const seed of [1, 2, 3]) {
    const chance = random(seed)
    let mayDie = true
    const mortal = mortalKube(() => mayDie && chance() < 0.2)
    const engines = [await it.process(policy, mortal), await it.process(policy, mortal)] as const
    const either = (): Engine => engines[chance() < 0.5 ? 0 : 1]
    const shuffled = <T>(all: readonly T[]): T[] =>
      all
        .map(one => ({ one, order: chance() }))
        .toSorted((a, b) => a.order - b.order)
        .map(({ one }) => one)
    /** hints come several times, to whichever process, and say nothing but "look" */
    const hints = async (): Promise<void> => {
      const all = shuffled([...hosts, ...hosts, ...hosts])
      await Promise.all(all.map(host => untilTold(() => either().hear(host, []))))
    }
    const evictions = async () => (await it.admin.list(Eviction)).items.map(({ spec }) => spec.hypervisor).toSorted()
    const atMs = it.clock.now()
    const told = rows.flatMap(({ told = [] }, n) => told.map(event => ({ host: hosts[n] ?? '', event })))
    const over = rows.flatMap(({ over = [] }, n) => over.map(event => ({ host: hosts[n] ?? '', event })))
    const deliver = async (all: typeof told): Promise<void> => {
      const tell = ({ host, event: [kind, data, afterMs] }: (typeof told)[number]) =>
        untilTold(() => it.tell(either(), host, kind, { server: it.servers(host)[0], ...data }, atMs + afterMs))
      await Promise.all(shuffled([...all, ...all]).map(tell))
    }

    for (const [n, row] of rows.entries()) {
      const host = hosts[n] ?? ''
      if (row.jane) Object.assign(it.fake.host(host), { status: 'disabled', disabledReason: 'new disks, jane' })
      await write(it, host, row)
    }
    await deliver(told)
    await hints()
    await pass(it, engines, 70, 5)
    await hints()
    mayDie = false
    await pass(it, engines, 24, 4)
    for (const [n, { name, comes, jane }] of rows.entries()) {
      const host = hosts[n] ?? ''
      const because = jane ? 'new disks, jane' : comes.disabled && `drover: ha: ${comes.disabled} (drover-ha)`
      const expected = because ? { status: 'disabled', disabledReason: because } : { status: 'enabled' }
      t.match(it.fake.host(host), expected, `seed ${seed}: ${name}`)
      matchWhole(t, (await it.ha(host)).signals, [{ kind: comes.signal }], name)
    }
    const drained = rows.flatMap(({ comes }, n) => (comes.drained ? [hosts[n] ?? ''] : []))
    t.strictSame(await evictions(), drained.toSorted(), 'one drain each')

    mayDie = true
    for (const host of hosts) await write(it, host, {})
    for (const [n, { told: had = [] }] of rows.entries())
      if (had.some(([kind]) => kind === libvirt.memoryFailed)) await booted(it, hosts[n] ?? '')
    await deliver(over)
    await deliver(told) // all of it once more, late
    await hints()
    await pass(it, engines, 20, 4)
    mayDie = false
    await pass(it, engines, 40, 4)
    for (const [n, { name, comes, jane }] of rows.entries()) {
      const host = hosts[n] ?? ''
      const expected = jane ? { status: 'disabled', disabledReason: 'new disks, jane' } : { status: 'enabled' }
      t.match(it.fake.host(host), expected, `seed ${seed}: ${name}, and well again`)
      t.strictSame((await it.ha(host)).signals?.map(({ kind }) => kind) ?? [], comes.kept ? [comes.signal] : [], name)
    }
    t.strictSame(await evictions(), [], 'the drains are called off')
    await Promise.all(engines.map(engine => engine.close()))
    for (const host of hosts)
      await it.admin.patch(Hypervisor, { name: host }, { status: { ha: null } }, { subresource: 'status' })
    it.clock.advance(7_200_000)
  }
})
