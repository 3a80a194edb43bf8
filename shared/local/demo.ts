import { connect, Namespace, Node } from '../kube/index.ts'

const labels = (zone: string, block: string) => ({
  'nova.openstack.cloud.sap/virt-driver': 'kvm',
  'cobaltcore.cloud.sap/node-hypervisor-lifecycle': 'true',
  'topology.kubernetes.io/zone': zone,
  'kubernetes.metal.cloud.sap/bb': block
})

/** A handful of Nodes, so that something happens at once. Repeating it changes nothing. */
export async function applyDemo(kubeconfig: string): Promise<string[]> {
  const kube = await connect({ manager: 'drover-demo', kubeconfig })
  try {
    await kube.apply(Namespace, { metadata: { name: 'monsoon3' } })
    const names = ['zone-a', 'zone-b'].flatMap(zone => [1, 2, 3].map(n => ({ name: `node00${n}-${zone}`, zone })))
    for (const { name, zone } of names) {
      const annotations = {
        'nova.openstack.cloud.sap/aggregates': 'general',
        'nova.openstack.cloud.sap/custom-traits': 'CUSTOM_DEMO'
      }
      const status = { addresses: [{ type: 'InternalIP', address: `10.0.${zone === 'zone-a' ? 1 : 2}.${name.slice(6, 7)}` }] }
      await kube.apply(Node, { metadata: { name, labels: labels(zone, `bb-${zone}`), annotations } })
      await kube.applyStatus(Node, { metadata: { name }, status })
    }
    return names.map(({ name }) => name)
  } finally {
    kube.close()
  }
}
