// OVN with a central and two chassis, one agent with southbound access, and a Kubernetes API: what the tests of the controller and of ports share.
import type { Test } from 'tap'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { kubernetes } from '../../servers/kubernetes.ts'
import { startOvsLab } from '../../servers/ovs.ts'
import { ovsNeeded } from '../../ovsdb-client/real.ts'
import { condition, startAdmin, startOvsAgent, startSink, statusWhen } from './lab.ts'

const up = `
for n in n1 n2; do ip netns add $n; ip -n $n link set lo up; node.sh $n $n
  ovs-vsctl --db=unix:$DIR/$n/db.sock -- add-br br-int -- set bridge br-int datapath_type=netdev fail-mode=secure \
    -- add-br br-provider -- set bridge br-provider datapath_type=netdev
done
ip link add mgmt0 type veth peer name mgmt1 netns n1; ip addr add 10.98.0.1/24 dev mgmt0; ip link set mgmt0 up
ip -n n1 addr add 10.98.0.2/24 dev mgmt1; ip -n n1 link set mgmt1 up
ADDR=0.0.0.0 ovn-central.sh central
ovn-host.sh n1 10.97.0.1 n1; ovn-host.sh n2 10.97.0.2 n2
ovn-nbctl --db=unix:$DIR/central/nb.sock ls-add sw0
for i in 1 2 3 4; do
  ovn-nbctl --db=unix:$DIR/central/nb.sock lsp-add sw0 lsp$i
  ip link add vm$i netns n1 type veth peer name peer$i netns n1; ip -n n1 link set vm$i up; ip -n n1 link set peer$i up
  ovs-vsctl --db=unix:$DIR/n1/db.sock add-port br-int vm$i -- set interface vm$i external_ids:iface-id=lsp$i external_ids:vm-id=00000000-0000-0000-0000-00000000000$i
done
ovn-nbctl --db=unix:$DIR/central/nb.sock --wait=hv sync
`
export async function startOvn(t: Test) {
  await ovsNeeded()
  const api = await kubernetes(t)
  const kube = await startAdmin(t, api.kubeconfig)
  const lab = await startOvsLab(t, up)
  const sink = await startSink(t)
  const node = `n1-${api.namespace}`.slice(0, 40)
  await kube.apply(Hypervisor, { metadata: { name: node } })
  t.teardown(() => kube.delete(Hypervisor, { name: node }))
  const domain = (at: number) => ({ id: `00000000-0000-0000-0000-00000000000${at}`, name: `vm${at}`, active: true })
  /** As the hypervisor agent writes it. */
  const domains = (...ids: number[]) =>
    kube.applyStatus(Hypervisor, {
      metadata: { name: node },
      status: { instances: ids.map(domain), numInstances: ids.length, agent: { lastHeartbeat: new Date().toISOString() } }
    })
  await domains(1, 2, 3, 4)

  lab.run(`ln -s n1 $DIR/${node}`)
  const agent = await startOvsAgent(t, {
    dir: lab.dir,
    node,
    kubeconfig: api.kubeconfig,
    namespace: api.namespace,
    sink: sink.url,
    env: { EXPECTED_BRIDGES: 'br-int', SB_ACCESS: 'read', INVENTORY_STALE: '10m' },
    timings: {
      orphanGraceMs: 1500,
      frozenMs: 2500,
      laggingMs: 2000,
      ovnLostMs: 1000,
      flowPollMs: 700,
      livenessMs: 300,
      flapWindowMs: 1000
    }
  })
  const when = (what: string, holds: Parameters<typeof statusWhen>[4]) => statusWhen(kube, api.namespace, node, what, holds)
  const healthy = () =>
    when('a healthy node', status => condition(status, 'Ready') === 'True/AllHealthy' && status.issueCount === 0)
  const nb = (command: string) => lab.run(`ovn-nbctl --db=unix:$DIR/central/nb.sock ${command}`)
  const vsctl = (command: string) => lab.run(`ovs-vsctl --db=unix:$DIR/n1/db.sock ${command}`)
  return { api, kube, lab, sink, node, domains, agent, when, healthy, nb, vsctl }
}
