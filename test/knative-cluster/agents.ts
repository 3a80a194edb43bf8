// The production agents beside the cluster, on the real libvirtd and a real Open vSwitch, send to the broker's ingress; each event reaches the
// functions that knative/ wires it to, and nobody else. The subscribers stand for the functions, so that "nobody else" can be seen.
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { procedures as p } from 'node-libvirt'
import type { Test } from 'tap'
import { parseAllDocuments } from 'yaml'
import { libvirtKinds } from '../../shared/events/libvirt.ts'
import { ovsKinds } from '../../shared/events/ovs.ts'
import { agent, hostRoot } from '../agents/hypervisor/harness.ts'
import { startOvsAgent } from '../agents/ovs/lab.ts'
import type { Received } from '../local/broker/sinks.ts'
import { create, open } from '../node-libvirt/real.ts'
import { eventually } from '../servers/eventually.ts'
import { startLibvirt } from '../servers/libvirt.ts'
import { startOvsLab } from '../servers/ovs.ts'
import { brokerFor, clusterSink } from './broker.ts'
import { patience, type Conditioned, type World } from './world.ts'

const root = join(import.meta.dirname, '../..')
const ofAgents = new Set([...libvirtKinds, ...ovsKinds].map(({ type }) => type))

/** Type → the functions that a file of knative/ brings it to. */
async function wiring(): Promise<Map<string, string[]>> {
  const wired = new Map<string, string[]>()
  for await (const file of glob('knative/*.yaml', { cwd: root }))
    for (const document of parseAllDocuments(await readFile(join(root, file), 'utf8'))) {
      const { kind, spec } = document.toJSON() as Conditioned & { kind: string }
      const type = String(spec?.['filter']?.attributes?.type)
      if (kind === 'Trigger' && ofAgents.has(type)) wired.set(type, [...(wired.get(type) ?? []), spec['subscriber'].ref.name])
    }
  return wired
}

const wanted = [
  'sap.cloud.kvm.domain.crashed.v1',
  'sap.cloud.kvm.watchdog.fired.v1',
  'io.c5c3.ovs.bond.lost.v1',
  'io.c5c3.ovs.bond-member.lost.v1'
]

const bond = `
for n in n1 tor; do ip netns add $n; ip -n $n link set lo up; done
for i in 0 1; do
  ip link add m$i netns n1 type veth peer name t1$i netns tor
  ip -n n1 link set m$i up; ip -n tor link set t1$i up
done
node.sh n1 n1; node.sh tor tor
ovs-vsctl --db=unix:$DIR/n1/db.sock -- add-br br-int -- set bridge br-int datapath_type=netdev fail-mode=secure \
  -- add-bond br-int bond0 m0 m1 -- set port bond0 bond_mode=balance-tcp lacp=active other_config:lacp-time=fast
ovs-vsctl --db=unix:$DIR/tor/db.sock -- add-br br0 -- set bridge br0 datapath_type=netdev \
  -- add-bond br0 b1 t10 t11 -- set port b1 bond_mode=balance-tcp lacp=active other_config:lacp-time=fast
`

export interface Lab {
  node: Awaited<ReturnType<typeof startLibvirt>>['nodes'][number]
  virt: Awaited<ReturnType<typeof open>>
  ovs: Awaited<ReturnType<typeof startOvsLab>>
}

/** For all passes of the suite. */
export async function startLab(t: Test): Promise<Lab> {
  const { nodes } = await startLibvirt(t, { nodes: [{ name: 'a' }] })
  const [node] = nodes as [Lab['node']]
  return { node, virt: await open(t, node.uri), ovs: await startOvsLab(t, bond) }
}

export async function startHypervisorAgent(t: Test, { cluster }: World, { node }: Lab, sink: string) {
  const files = await hostRoot(t)
  return agent(t, {
    NODE_NAME: 'beside',
    KUBECONFIG: cluster.kubeconfig,
    K_SINK: sink,
    LIBVIRT_URI: node.uri,
    HOST_ROOT: files,
    STATE_FOLDER: join(files, 'state')
  })
}

export async function agents(t: Test, world: World, lab: Lab): Promise<void> {
  const { cluster, tag } = world
  const { node, virt, ovs } = lab
  const sink = await clusterSink(t, world)
  const wired = await wiring()
  const to = (path: string) => ({ subscriber: { uri: `${sink.url}${path}` } })
  const triggers = wanted.flatMap((type, n) =>
    (wired.get(type) ?? []).map(fn => [`${fn}-${n}`, { filter: { attributes: { type } }, ...to(fn) }] as const)
  )
  // one more hears everything: an event that nobody is wired to can be seen too
  const { namespace, url } = await brokerFor(t, world, 'agents', { all: to('all'), ...Object.fromEntries(triggers) })
  await startHypervisorAgent(t, world, lab, url)
  const env = { EXPECTED_BRIDGES: 'br-int' }
  await startOvsAgent(t, { dir: ovs.dir, node: 'n1', kubeconfig: cluster.kubeconfig, namespace, sink: url, env })

  const victim = `${tag}-victim`
  await create(virt, victim)
  await eventually('the guest', async () => node.virsh('list --name').includes(victim))
  node.run(`kill -9 $(cat /run/libvirt/qemu/${victim}.pid)`)
  await watchdogFires(node, virt, `${tag}-dog`)
  const arrived = (type: string, path: string): Received | undefined =>
    sink.received.find(one => one.path === path && one.headers['ce-type'] === type)
  const heard = (type: string, path = '/all') => eventually(`${type} at ${path}`, async () => arrived(type, path), patience)
  await heard('sap.cloud.kvm.domain.crashed.v1')
  await heard('sap.cloud.kvm.watchdog.fired.v1')
  await eventually('a bond with both members', async () => bothUsable(ovs.run), patience)
  // one after the other: of two that go in the same instant only the loss of the bond is told
  ovs.run('ip -n tor link set t10 down')
  await heard('io.c5c3.ovs.bond-member.lost.v1')
  ovs.run('ip -n tor link set t11 down')
  await heard('io.c5c3.ovs.bond.lost.v1')
  ovs.run('ip -n tor link set t10 up; ip -n tor link set t11 up')

  for (const type of wanted) {
    const functions = wired.get(type) ?? []
    const traces = new Set<unknown>()
    const { headers } = await heard(type)
    for (const path of ['all', ...functions].map(fn => `/${fn}`)) {
      await heard(type, path)
      const same = sink.received.find(one => one.path === path && one.headers['ce-id'] === headers['ce-id'])
      traces.add(same?.headers['ce-trace'])
    }
    t.match([...traces], [/^00-[\da-f]{32}-[\da-f]{16}-01$/], 'the trace that the agent began, at all of them')
    const paths = new Set(sink.received.filter(({ headers }) => headers['ce-type'] === type).map(({ path }) => path))
    t.strictSame(
      [...paths].sort(),
      ['/all', ...functions.map(fn => `/${fn}`)].sort(),
      `${type} → ${functions.join(', ') || 'nobody'}`
    )
  }
}

const bothUsable = (run: (command: string) => string): boolean =>
  run('OVS_RUNDIR=$DIR/n1 ovs-appctl bond/show bond0').match(/m\d: enabled/g)?.length === 2

/** What a guest would write to its watchdog, through QEMU's monitor. */
async function watchdogFires(node: Lab['node'], virt: Lab['virt'], name: string): Promise<void> {
  const register = (offset: number) => `o /w 0xcf8 0x${(0x8000_0000 + (5 << 11) + offset).toString(16)}`
  const address = `<address type='pci' domain='0x0' bus='0x0' slot='0x5' function='0x0'/>`
  const devices = `<watchdog model='i6300esb' action='pause'>${address}</watchdog>`
  const domain = await create(virt, name, { devices, flags: p.START.paused })
  for (const command of [register(0x60), 'o /h 0xcfc 0x0007', register(0x68), 'o /b 0xcfc 0x02'])
    node.virsh(`qemu-monitor-command ${name} --hmp '${command}'`)
  await virt.call(p.domainResume, { domain })
}
