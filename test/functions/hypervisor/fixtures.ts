import type { Node } from '../../../shared/kube/kinds.ts'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import type { Options, Seen } from '../../../functions/hypervisor/decide.ts'

export const now = new Date('2026-11-16T12:00:00Z')

export const options: Options = {
  shardKeys: [],
  preferredFamily: 'ipv4',
  terminationSource: 'node',
  healthGates: true,
  heartbeatStaleMs: 90_000,
  extended: true,
  observe: false
}

export const virtDriver = { 'nova.openstack.cloud.sap/virt-driver': 'kvm' }

export function node({ metadata, ...rest }: Partial<Node> = {}): Node {
  return { metadata: { name: 'host-1', uid: 'node-uid', ...metadata, labels: { ...virtDriver, ...metadata?.labels } }, ...rest }
}

export const terminating = node({ status: { conditions: [{ type: 'Terminating', status: 'True' }] } })

const defaults: Hypervisor['spec'] = {
  reboot: false,
  evacuateOnReboot: true,
  lifecycleEnabled: true,
  skipTests: false,
  highAvailability: true,
  createCertManagerCertificate: false,
  installCertificate: true,
  customTraits: [],
  aggregates: [],
  allowedProjects: []
}

/** A stored Hypervisor; `own` lists the fields of its spec that the function set itself. */
export function hypervisor(
  spec: Partial<Hypervisor['spec']> = {},
  status: NonNullable<Hypervisor['status']> = { numInstances: 0 },
  own: string[] = Object.keys(spec)
): Hypervisor {
  const fieldsV1 = { 'f:spec': Object.fromEntries(own.map(field => [`f:${field}`, {}])) }
  return {
    metadata: {
      name: 'host-1',
      uid: 'hv-uid',
      generation: 3,
      managedFields: [{ manager: 'drover-hypervisor', operation: 'Apply', fieldsV1 }]
    },
    spec: { ...defaults, ...spec },
    status
  }
}

export const condition = (type: string, status: 'True' | 'False' | 'Unknown', reason = 'Succeeded', message = '') => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: '2026-11-16T11:00:00Z'
})

export const seen = (more: Partial<Seen>): Seen => ({ name: 'host-1', node: node(), hypervisor: undefined, pods: [], ...more })
