// The contract of the agents on a simulated host; see agents.real.test.ts for the real daemons.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { SimDomain } from '../../../shared/local/fleet/domains/domain.ts'
import { SimHost } from '../../../shared/local/fleet/host.ts'
import { seeded } from '../../../shared/local/fleet/random.ts'
import { realClock } from '../../../shared/local/openstack/index.ts'
import { agent, broker, kubeconfigOfNobody } from '../../agents/hypervisor/harness.ts'
import { startOvsAgent, startSink } from '../../agents/ovs/lab.ts'
import { hypervisorAgentContract, type LibvirtHost, ovsAgentContract } from './agent-contract.ts'

t.setTimeout(120_000)
const folder = await mkdtemp(join(tmpdir(), 'f-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))
const random = seeded(1)
async function simHost(number: number, onAbort: (domain: SimDomain) => void): Promise<SimHost> {
  const made = new SimHost({
    plan: { name: `sim-${number}`, zone: 'z', block: 'b', number, address: `10.0.0.${number}`, vms: [] },
    folder: join(folder, String(number)),
    clock: realClock,
    newUuid: () => random.uuid(),
    bootedMs: Date.now() - 4_711_000,
    onAbort
  })
  await made.start()
  t.teardown(() => made.close())
  return made
}
let aborted = (): void => {}
const [host, target] = [await simHost(1, () => aborted()), await simHost(2, () => {})]
const kubeconfig = await kubeconfigOfNobody(folder)

t.test('a simulated libvirtd', async t => {
  const sink = await broker(t)
  for (const { name, folder: root, libvirtUri } of [host, target])
    await agent(t, {
      NODE_NAME: name,
      KUBECONFIG: kubeconfig,
      K_SINK: sink.url,
      LIBVIRT_URI: libvirtUri,
      HOST_ROOT: root,
      STATE_FOLDER: join(root, 'state'),
      HEARTBEAT: '200ms'
    })
  const actions = new Map<string, 'pause' | 'reset'>()
  const found = ({ uuid }: { uuid: string }): SimDomain => {
    const domain = host.domains.find(uuid)
    if (!domain) throw new Error(`no domain ${uuid}`)
    return domain
  }
  const running = (name: string): SimDomain => {
    const domain = host.domains.define({ uuid: random.uuid(), name, vcpus: 1, memoryMiB: 64 })
    host.domains.start(domain)
    return domain
  }
  const libvirtd: LibvirtHost = {
    name: host.name,
    target: target.name,
    uri: host.libvirtUri,
    async withWatchdog(name, action) {
      const domain = running(name)
      actions.set(domain.uuid, action)
      return domain
    },
    fireWatchdog: async guest => host.domains.fireWatchdog(found(guest), actions.get(guest.uuid) ?? 'pause'),
    async withFullDisk(name) {
      const domain = running(name)
      host.domains.failDisk(domain, 'virtio-disk0', '/disk', 'enospc')
      return domain
    },
    withMuchToMove: async name => running(name),
    async move(guest, arrives) {
      const { uuid, name, vcpus, memoryMiB } = found(guest)
      const there = target.domains.arrive({ uuid, name, vcpus, memoryMiB })
      host.domains.beginMove(found(guest), arrives ? 100 : 3_600_000)
      const { promise, resolve } = Promise.withResolvers<void>()
      aborted = resolve
      if (!arrives) {
        await promise
        target.domains.turnBack(there)
        return host.domains.failMove(found(guest))
      }
      host.domains.endMove(found(guest))
      target.domains.arrived(there, 100)
    },
    crash: guest => host.domains.stop(found(guest), 'crashed'),
    killLibvirtd: () => host.stopLibvirt(),
    startLibvirtd: () => host.startLibvirt()
  }
  hypervisorAgentContract(t, libvirtd, sink)
})

t.test('a simulated Open vSwitch', async t => {
  const sink = await startSink(t)
  await startOvsAgent(t, {
    dir: folder,
    node: '1',
    kubeconfig,
    namespace: 'ovn-system',
    sink: sink.url,
    timings: { linkStableMs: 50 }
  })
  const setCarrier = (member: string, up: boolean): void => {
    const link = host.vswitch.links.find(({ name }) => name === member)
    if (link) host.vswitch.setLink(link, up)
  }
  const setOvn = (connected: boolean): void => void (host.ovn.connected = connected)
  ovsAgentContract(t, { members: ['eth0', 'eth1'], setCarrier, setOvn }, sink)
})
