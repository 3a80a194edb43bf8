import type { Eviction } from '../../shared/schema/eviction.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'
import type { OVSNode } from '../../shared/schema/ovs-node.ts'

export const now = new Date('2026-11-16T12:00:00Z')
export const earlier = '2026-11-16T11:56:00Z'

export const condition = (type: string, status: 'True' | 'False' | 'Unknown', reason: string, message = '') => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: earlier
})

export const ready = (reason: string, message = '') => condition('Ready', reason === 'Ready' ? 'True' : 'False', reason, message)

export function hypervisor(
  status: Partial<NonNullable<Hypervisor['status']>> = {},
  spec: Partial<Hypervisor['spec']> = {}
): Hypervisor {
  return {
    metadata: { name: 'node-05', labels: { 'topology.kubernetes.io/zone': 'eu-1', 'kubernetes.metal.cloud.sap/bb': 'bb231' } },
    spec: { lifecycleEnabled: true, highAvailability: true, ...spec } as Hypervisor['spec'],
    status: { numInstances: 0, ...status }
  }
}

export function eviction(status: NonNullable<Eviction['status']> = {}): Eviction {
  return { metadata: { name: 'node-05-1' }, spec: { hypervisor: 'node-05', reason: 'firmware' }, status }
}

export function ovsNode(activeMembers: number, status: 'Active' | 'Degraded' | 'Down'): OVSNode {
  return {
    metadata: { name: 'node-05' },
    spec: {} as OVSNode['spec'],
    status: { interfaces: { bonds: [{ name: 'bond0', members: 2, activeMembers, status }] } }
  }
}

export const progress = { total: 20, done: 14, running: 2, waiting: 4, failed: 0, blocked: 0 }
export const moving = [
  { id: 'a', name: 'web-14', state: 'Migrating' as const, destination: 'node-02', startedAt: earlier },
  { id: 'b', name: 'db-3', state: 'Waiting' as const }
]
