// The contract of the agents on a simulated host; see agents.real.test.ts for the real daemons.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import t from 'tap'
import { SimHost } from '../../../shared/local/fleet/host.ts'
import { seeded } from '../../../shared/local/fleet/random.ts'
import { realClock } from '../../../shared/local/openstack/index.ts'
import { agent, broker, kubeconfigOfNobody } from '../../agents/hypervisor/harness.ts'
import { startOvsAgent, startSink } from '../../agents/ovs/lab.ts'
import { hypervisorAgentContract, ovsAgentContract } from './agent-contract.ts'

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
const kubeconfig = await kubeconfigOfNobody(folder)

t.test('a simulated libvirtd', async t => {
  const sink = await broker(t)
  await agent(t, {
    NODE_NAME: 'sim-1',
    KUBECONFIG: kubeconfig,
    K_SINK: sink.url,
    LIBVIRT_URI: host.libvirtUri,
    HOST_ROOT: folder,
    STATE_FOLDER: join(folder, 'state'),
    HEARTBEAT: '200ms'
  })
  const libvirtd = {
    uri: host.libvirtUri,
    crash({ uuid }: { uuid: string }) {
      const domain = host.domains.find(uuid)
      if (domain) host.domains.stop(domain, 'crashed')
    },
    killLibvirtd: () => host.stopLibvirt(),
    startLibvirtd: () => host.startLibvirt()
  }
  hypervisorAgentContract(t, libvirtd, sink)
})

t.test('a simulated Open vSwitch', async t => {
  const sink = await startSink(t)
  await startOvsAgent(t, {
    dir: join(folder, '..'),
    node: basename(folder),
    kubeconfig,
    namespace: 'ovn-system',
    sink: sink.url,
    timings: { linkStableMs: 50 }
  })
  const setCarrier = (member: string, up: boolean): void => {
    const link = host.vswitch.links.find(({ name }) => name === member)
    if (link) host.vswitch.setLink(link, up)
  }
  ovsAgentContract(t, { members: ['eth0', 'eth1'], setCarrier }, sink)
})
