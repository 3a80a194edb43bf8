// The embedded OpenStack as an operator would have it: what the smoke test of a new host needs; a compute service for each Node that is a
// hypervisor, as nova-compute on it would register itself; and the aggregates that such hosts are put into.
import { connect, Node } from '../kube/index.ts'
import type { FakeOpenStack } from './openstack/index.ts'

const virtDriver = 'nova.openstack.cloud.sap/virt-driver'
const zone = 'topology.kubernetes.io/zone'
const aggregates = 'nova.openstack.cloud.sap/aggregates'

export interface ComputeHosts {
  close(): Promise<void>
}

export function keepComputeHosts(kubeconfig: string, cloud: FakeOpenStack, onFault: (err: unknown) => void): ComputeHosts {
  const stop = new AbortController()
  const watching = (async () => {
    const kube = await connect({ manager: 'drover-compute-hosts', kubeconfig })
    for await (const seen of kube.watch(Node, { signal: stop.signal })) {
      if (seen.type === 'snapshot') for (const node of seen.items) register(node, cloud)
      else if (seen.type === 'changed') register(seen.object, cloud)
      else stopAgent(seen.object, cloud)
    }
    kube.close()
  })().catch(onFault)
  prepare(cloud)
  return {
    async close() {
      stop.abort()
      await watching
    }
  }
}

/** What functions/onboarding asks for by default. */
function prepare(cloud: FakeOpenStack): void {
  const { world, account } = cloud
  ensureAggregate(cloud, 'tenant_filter_tests')
  world.images.push({ id: world.newId(), name: 'cirros-kvm' })
  world.networks.push({ id: world.newId(), name: 'test', projectId: account.projectId, shared: false })
}

function register({ metadata = {} }: Node, cloud: FakeOpenStack): void {
  const { name = '', labels = {}, annotations = {} } = metadata
  if (labels[virtDriver] === undefined) return
  if (!cloud.world.hosts.has(name)) cloud.startAgent(name)
  if (labels[zone] !== undefined) ensureAggregate(cloud, labels[zone], labels[zone])
  for (const wanted of (annotations[aggregates] ?? '').split(',')) if (wanted.trim()) ensureAggregate(cloud, wanted.trim())
}

/** The host stays listed, its service is down. */
function stopAgent({ metadata = {} }: Node, cloud: FakeOpenStack): void {
  if (cloud.world.hosts.has(metadata.name ?? '')) cloud.stopAgent(metadata.name ?? '')
}

function ensureAggregate(cloud: FakeOpenStack, name: string, availabilityZone?: string): void {
  if (!cloud.world.aggregates.some(aggregate => aggregate.name === name)) cloud.addAggregate(name, availabilityZone)
}
