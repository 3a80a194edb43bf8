// The contract of the agents on a real libvirtd with real guests and on a real Open vSwitch; see agents.test.ts for the simulated ones.
import { join } from 'node:path'
import t from 'tap'
import { agent, broker, hostRoot, kubeconfigOfNobody } from '../../agents/hypervisor/harness.ts'
import { startOvsAgent, startSink } from '../../agents/ovs/lab.ts'
import { ovsNeeded } from '../../ovsdb-client/real.ts'
import { eventually } from '../../servers/eventually.ts'
import { startLibvirt } from '../../servers/libvirt.ts'
import { startOvsLab } from '../../servers/ovs.ts'
import { hypervisorAgentContract, ovsAgentContract } from './agent-contract.ts'

await ovsNeeded()
t.setTimeout(300_000)

t.test('a real libvirtd', async t => {
  const { nodes } = await startLibvirt(t, { nodes: [{ name: 'a', restart: true }] })
  const [node] = nodes as [(typeof nodes)[number]]
  const sink = await broker(t)
  const root = await hostRoot(t)
  await agent(t, {
    NODE_NAME: 'a',
    KUBECONFIG: await kubeconfigOfNobody(root),
    K_SINK: sink.url,
    LIBVIRT_URI: node.uri,
    HOST_ROOT: root,
    STATE_FOLDER: join(root, 'state'),
    HEARTBEAT: '200ms'
  })
  const host = {
    uri: node.uri,
    crash: ({ name }: { name: string }) => void node.run(`kill -9 $(cat /run/libvirt/qemu/${name}.pid)`),
    killLibvirtd: async () => node.kill('KILL'),
    startLibvirtd: async () => {} // whoever looks after it has started it again
  }
  hypervisorAgentContract(t, host, sink)
})

t.test('a real Open vSwitch, its bond against another switch', async t => {
  const lab = await startOvsLab(
    t,
    `
for n in n1 tor; do ip netns add $n; ip -n $n link set lo up; done
for i in 0 1; do
  ip link add m$i netns n1 type veth peer name t1$i netns tor
  ip -n n1 link set m$i up; ip -n tor link set t1$i up
done
node.sh n1 n1; node.sh tor tor
ovs-vsctl --db=unix:$DIR/n1/db.sock -- add-br br-ex -- set bridge br-ex datapath_type=netdev \
  -- add-bond br-ex bond0 m0 m1 -- set port bond0 bond_mode=balance-tcp lacp=active other_config:lacp-time=fast
ovs-vsctl --db=unix:$DIR/tor/db.sock -- add-br br0 -- set bridge br0 datapath_type=netdev \
  -- add-bond br0 b1 t10 t11 -- set port b1 bond_mode=balance-tcp lacp=active other_config:lacp-time=fast
`
  )
  const sink = await startSink(t)
  await startOvsAgent(t, {
    dir: lab.dir,
    node: 'n1',
    kubeconfig: await kubeconfigOfNobody(lab.dir),
    namespace: 'ovn-system',
    sink: sink.url,
    timings: { linkStableMs: 50 }
  })
  const partner: Readonly<Record<string, string>> = { m0: 't10', m1: 't11' }
  const setCarrier = (member: string, up: boolean): void =>
    void lab.run(`ip -n tor link set ${partner[member]} ${up ? 'up' : 'down'}`)
  const enabled = (): number => (lab.run('OVS_RUNDIR=$DIR/n1 ovs-appctl bond/show bond0').match(/: enabled/g) ?? []).length
  await eventually('both members in use', async () => enabled() === 2)
  ovsAgentContract(t, { members: ['m0', 'm1'], setCarrier }, sink)
})
