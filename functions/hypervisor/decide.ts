// What one Node makes of its Hypervisor. Pure.
import { findCondition, isFalse, isTrue } from '../../shared/kube/conditions.ts'
import type { Node, Pod } from '../../shared/kube/kinds.ts'
import { isObserved } from '../../shared/kube/observe.ts'
import { owns } from '../../shared/kube/owns.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'
import type { OVSNode } from '../../shared/schema/ovs-node.ts'
import type { Family } from './addresses.ts'
import * as mapping from './mapping.ts'

export const manager = 'drover-hypervisor'

export interface Options {
  shardKeys: readonly string[]
  preferredFamily: Family
  /** HV-24: whether a terminating Node puts its host into termination, or another automation does. */
  terminationSource: 'node' | 'external'
  healthGates: boolean
  heartbeatStaleMs: number
  /** HV-4: whether the installed CRD knows Drover's own fields. */
  extended: boolean
  /** HV-8: say what would be done, and write nothing but Drover's own fields of the status. */
  observe: boolean
}

export interface Seen {
  name: string
  node: Node | undefined
  hypervisor: Hypervisor | undefined
  /** Pods in the agents' namespaces on this node; read only when they decide something. */
  pods: readonly Pod[]
  /** Absent where no OVS agent reports. */
  ovsNode?: OVSNode | undefined
}

export type Spec = Partial<Hypervisor['spec']>
export interface Wanted {
  metadata: { name: string; labels?: Record<string, string>; ownerReferences: ReturnType<typeof mapping.ownerReference>[] }
  spec: Spec
}

export type Step =
  | { do: 'nothing' }
  | { do: 'lament'; hypervisor: Hypervisor } // HV-26: the Node is gone, its servers perhaps not
  | { do: 'keep'; wanted: Wanted; withheld: Spec; keptLifecycle: boolean }
  | { do: 'observe'; wanted: Wanted; withheld: Spec } // HV-8: what would be kept, and what of it is not so

const frozen = (hypervisor: Hypervisor | undefined): boolean => hypervisor?.spec.maintenance === 'termination'

export function decide({ name, node, hypervisor }: Seen, options: Options): Step {
  if (!node) return hypervisor && (hypervisor.status?.numInstances ?? 0) > 0 ? { do: 'lament', hypervisor } : { do: 'nothing' }
  if (!mapping.isHypervisor(node)) return { do: 'nothing' }
  const labels = mapping.copiedLabels(node, options.shardKeys)
  const owner = mapping.ownerReference(node)
  // the server does not keep an empty map, so that applying one would never come to rest
  const metadata = { name, ...(Object.keys(labels).length > 0 && { labels }), ownerReferences: [owner] }
  const spec = hypervisor ? specFor(node, hypervisor, options) : firstSpec(node)
  if (isObserved(hypervisor, options))
    return { do: 'observe', wanted: { metadata, spec }, withheld: hypervisor ? differing(spec, hypervisor.spec) : spec }
  const keptLifecycle = hypervisor?.spec.lifecycleEnabled === true && !('lifecycleEnabled' in spec)
  if (!hypervisor || !frozen(hypervisor)) return { do: 'keep', wanted: { metadata, spec }, withheld: {}, keptLifecycle }
  // HV-22: R1 refuses any change of the spec, so that what we own is repeated as it is
  const asIs = ownSpec(hypervisor)
  return { do: 'keep', wanted: { metadata, spec: asIs }, withheld: differing(spec, hypervisor.spec), keptLifecycle }
}

/** HV-19: only what is meant; everything else is left to the schema's defaults. */
function firstSpec(node: Node): Spec {
  const aggregates = mapping.aggregatesOf(node)
  const customTraits = mapping.traitsOf(node)
  return {
    highAvailability: true,
    installCertificate: true,
    ...(mapping.lifecycleOf(node) ?? { lifecycleEnabled: false, skipTests: false }),
    ...(aggregates && { aggregates }),
    ...(customTraits && { customTraits }),
    ...(mapping.isTerminating(node) && { maintenance: 'termination' as const })
  }
}

function specFor(node: Node, hypervisor: Hypervisor, { terminationSource }: Options): Spec {
  const { lifecycleEnabled, skipTests, aggregates: _a, customTraits: _t, ...kept } = ownSpec(hypervisor)
  // HV-20: an explicit false, since leaving the field out would let its default switch the lifecycle on
  const withoutLabel =
    lifecycleEnabled === undefined ? {} : { lifecycleEnabled: false, ...(skipTests !== undefined && { skipTests }) }
  const aggregates = mapping.aggregatesOf(node)
  const customTraits = mapping.traitsOf(node)
  const terminate = terminationSource === 'node' && mapping.isTerminating(node) && hypervisor.spec.maintenance !== 'ha'
  return {
    ...kept,
    ...(mapping.lifecycleOf(node) ?? withoutLabel),
    ...(aggregates && { aggregates }),
    ...(customTraits && { customTraits }),
    ...(terminate && { maintenance: 'termination' as const })
  }
}

/** The fields of the spec that this function set and nobody has changed since. */
function ownSpec(hypervisor: Hypervisor): Spec {
  const fields = [
    'highAvailability',
    'installCertificate',
    'lifecycleEnabled',
    'skipTests',
    'aggregates',
    'customTraits',
    'maintenance'
  ] as const
  const own = fields.filter(field => owns(hypervisor, manager, 'spec', field))
  return Object.fromEntries(own.map(field => [field, hypervisor.spec[field]]))
}

export const say = (value: unknown): string => (Array.isArray(value) ? value.map(String).sort().join(',') : String(value))

const differing = (wanted: Spec, live: Spec): Spec =>
  Object.fromEntries(Object.entries(wanted).filter(([field, value]) => say(value) !== say(live[field as keyof Spec])))

/** HV-25: asked only when the host is drained and the taint tells its agents to go. */
export const agentsMustLeave = (node: Node | undefined, hypervisor: Hypervisor | undefined): boolean =>
  node !== undefined && mapping.isBeingOffboarded(node) && isFalse(hypervisor, 'Evicting')

/** Whether time alone may change what the status says: the fast tick looks at these. */
export function isOpen(hypervisor: Hypervisor, now: Date, { healthGates, heartbeatStaleMs }: Options): boolean {
  if (isTrue(hypervisor, 'Terminating') && !isTrue(hypervisor, 'Offboarded')) return true
  if (isFalse(hypervisor, 'AgentPodsEvicted')) return true
  const last = hypervisor.status?.agent?.lastHeartbeat
  if (!healthGates || last === undefined) return false
  const stale = now.getTime() - Date.parse(last) > heartbeatStaleMs
  return stale ? isTrue(hypervisor, 'Ready') : findCondition(hypervisor, 'Ready')?.reason === 'AgentLost'
}
