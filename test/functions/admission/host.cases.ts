// For each rule about hosts, Evictions and OVSNodes that a CRD can say too, an object that trips it and it alone, and a neighbour that passes.
import { ovsNodes } from './webhook.ts'

export interface HostCase {
  id: string
  /** Defaults to Hypervisor. */
  kind?: 'Hypervisor' | 'Eviction' | 'OVSNode'
  /** Stored before, so that the write is an update. */
  was?: object
  bad: object
  good: object
  /** Who asks; jane, where it is left out. */
  as?: Record<string, string>
}

const uuid = '6fa459ea-ee8a-3ca4-894e-db77e160355e'
const trait = (name: string) => ({ trait: { name } })
const aggregate = (id: string, name = 'a') => ({ aggregate: { name, uuid: id } })
const ha = { 'impersonate-user': 'system:serviceaccount:drover:ha', 'impersonate-group': 'system:masters' }
const evicts = (spec: object = {}) => ({ hypervisor: 'a', reason: 'r', ...spec })

export const hostCases: HostCase[] = [
  { id: 'R1', was: { maintenance: 'termination' }, bad: { maintenance: 'auto' }, good: { maintenance: 'ha' }, as: ha },
  { id: 'R1', was: { maintenance: 'termination' }, bad: { version: '2' }, good: { maintenance: 'ha', version: '2' }, as: ha },
  { id: 'R2', bad: { maintenance: 'manual' }, good: { maintenance: 'manual', maintenanceReason: 'disk' } },
  { id: 'R3', bad: { overcommit: { cpu: 0.9 } }, good: { overcommit: { cpu: 1 } } },
  { id: 'R4', bad: { groups: [{}] }, good: { groups: [trait('CUSTOM_A')] } },
  { id: 'R4', bad: { groups: [{ ...trait('A'), ...aggregate(uuid) }] }, good: { groups: [trait('A'), aggregate(uuid)] } },
  { id: 'R5', bad: { groups: [trait('')] }, good: { groups: [trait('A')] } },
  { id: 'R5', bad: { groups: [aggregate(uuid, '')] }, good: { groups: [aggregate(uuid)] } },
  { id: 'R5', bad: { groups: [aggregate('6fa459ea')] }, good: { groups: [aggregate(uuid.toUpperCase())] } },
  { id: '1.5', kind: 'Eviction', was: evicts(), bad: evicts({ hypervisor: 'b' }), good: evicts({ reason: 'other' }) },
  { id: '1.5', kind: 'Eviction', was: evicts(), bad: evicts({ mode: 'evacuate' }), good: evicts({ mode: 'drain' }), as: ha },
  {
    id: 'OV-5',
    kind: 'OVSNode',
    bad: { nodeRef: { name: 'b' } },
    good: { nodeRef: { name: 'new' } },
    as: { ...ovsNodes.agentOn('new'), 'impersonate-group': 'system:masters' }
  }
]
