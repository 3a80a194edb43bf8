// The Kubernetes side of a host: its Node, as a kubelet would keep it, and how the control plane sees a node that fell silent.
import { Namespace, Node, type Kube } from '../../kube/index.ts'
import { Hypervisor } from '../../schema/hypervisor.ts'
import type { SimHost } from './host.ts'

const labels = (host: SimHost['plan']) => ({
  'kubernetes.io/hostname': host.name,
  'nova.openstack.cloud.sap/virt-driver': 'kvm',
  // in service for long, with servers on it: nobody would boot a test server there
  'cobaltcore.cloud.sap/node-hypervisor-lifecycle': 'skip-tests',
  'node-role.kubernetes.io/hypervisor': '',
  'topology.kubernetes.io/zone': host.zone,
  'kubernetes.metal.cloud.sap/bb': host.block
})

const annotations = {
  'nova.openstack.cloud.sap/aggregates': 'general',
  'nova.openstack.cloud.sap/custom-traits': 'CUSTOM_SIMULATED'
}

const atOnce = 8

/** Repeating it changes nothing. */
export async function applyNodes(kube: Kube, hosts: readonly SimHost[], now: () => Date): Promise<void> {
  await kube.apply(Namespace, { metadata: { name: 'monsoon3' } })
  for (let at = 0; at < hosts.length; at += atOnce)
    await Promise.all(hosts.slice(at, at + atOnce).map(host => applyNode(kube, host, now())))
}

async function applyNode(kube: Kube, host: SimHost, now: Date): Promise<void> {
  await kube.apply(Node, { metadata: { name: host.name, labels: labels(host.plan), annotations } })
  await applyNodeStatus(kube, host, now)
}

/** A kubelet that runs says Ready; of one that does not, the node controller says Unknown. */
export async function applyNodeStatus(kube: Kube, host: SimHost, now: Date): Promise<void> {
  const at = `${now.toISOString().slice(0, 19)}Z`
  const on = host.power === 'on'
  const ready = {
    type: 'Ready',
    status: on ? 'True' : 'Unknown',
    reason: on ? 'KubeletReady' : 'NodeStatusUnknown',
    message: on ? 'kubelet is posting ready status' : 'Kubelet stopped posting node status.',
    lastTransitionTime: at
  }
  const status = {
    addresses: [
      { type: 'InternalIP', address: host.plan.address },
      { type: 'Hostname', address: host.name }
    ],
    conditions: [ready]
  }
  await kube.applyStatus(Node, { metadata: { name: host.name }, status })
}

export async function isOnboarded(kube: Kube, name: string): Promise<boolean> {
  const { status } = (await kube.find(Hypervisor, name)) ?? {}
  return status?.conditions?.some(({ type, reason }) => type === 'Onboarding' && reason === 'Succeeded') ?? false
}
