// A switch with two bridges and a bond, LACP against a second switch, its agent and a Kubernetes API: what the tests of links and of outages share.
import type { Test } from 'tap'
import { eventually } from '../../servers/eventually.ts'
import { kubernetes } from '../../servers/kubernetes.ts'
import { startOvsLab } from '../../servers/ovs.ts'
import { ovsNeeded } from '../../ovsdb-client/real.ts'
import { condition, type Sink, startAdmin, startOvsAgent, startSink, statusWhen } from './lab.ts'

const up = `
for n in n1 tor; do ip netns add $n; ip -n $n link set lo up; done
for i in 0 1; do
  ip link add m$i netns n1 type veth peer name t1$i netns tor
  ip -n n1 link set m$i up; ip -n tor link set t1$i up
done
node.sh n1 n1; node.sh tor tor
ovs-vsctl --db=unix:$DIR/n1/db.sock -- add-br br-int -- set bridge br-int datapath_type=netdev fail-mode=secure \
  -- add-br br-provider -- set bridge br-provider datapath_type=netdev \
  -- add-bond br-provider bond0 m0 m1 -- set port bond0 bond_mode=balance-tcp lacp=active other_config:lacp-time=fast
ovs-vsctl --db=unix:$DIR/tor/db.sock -- add-br br0 -- set bridge br0 datapath_type=netdev \
  -- add-bond br0 b1 t10 t11 -- set port b1 bond_mode=balance-tcp lacp=active other_config:lacp-time=fast
`
export async function startLinks(t: Test) {
  await ovsNeeded()
  const api = await kubernetes(t)
  const kube = await startAdmin(t, api.kubeconfig)
  const lab = await startOvsLab(t, up)
  const sink = await startSink(t)
  const setup = {
    dir: lab.dir,
    node: 'n1',
    kubeconfig: api.kubeconfig,
    namespace: api.namespace,
    sink: sink.url,
    env: { EXPECTED_BRIDGES: 'br-int,br-provider' },
    timings: { flapWindowMs: 1000 } // the tests break the same link again and again
  }
  const agent = await startOvsAgent(t, setup)
  const when = (what: string, holds: Parameters<typeof statusWhen>[4]) => statusWhen(kube, api.namespace, 'n1', what, holds)
  // an issue may outlive its condition for a moment, such as a link that has only just come back
  const healthy = () =>
    when('a healthy node', status => condition(status, 'Ready') === 'True/AllHealthy' && status.issueCount === 0)
  return { api, kube, lab, sink, setup, agent, when, healthy }
}

/** What one test healed may be told only during the next, and after an outage of the sink the same may be heard twice. */
export async function everyLossTakenBack(t: Test, { heard }: Sink): Promise<void> {
  const pairs = (word: string) =>
    heard
      .filter(({ type }) => type.endsWith(`.${word}.v1`))
      .map(({ type, subject, data }) => `${type.replace(`.${word}.v1`, '')} ${subject} ${data.detectedAt}`)
  const open = () => pairs('lost').filter(loss => !pairs('restored').includes(loss))
  await eventually('every loss to be taken back', async () => open().length === 0).catch(() => t.strictSame(open(), []))
}
