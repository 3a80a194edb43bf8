// What one Node makes of its Hypervisor, and what the status says of both. Pure.
import { conditionSet, findCondition, isFalse, isTrue, timestamp, type Verdict } from '../../shared/kube/conditions.ts'
import type { Node, Pod } from '../../shared/kube/kinds.ts'
import { owns } from '../../shared/kube/owns.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { internalIp, internalIps, type Family } from './addresses.ts'
import { remainingAgents } from './agent-pods.ts'
import * as mapping from './mapping.ts'
import { phase } from './phase.ts'
import { ready, type Ready } from './ready.ts'

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
}

export interface Seen {
  name: string
  node: Node | undefined
  hypervisor: Hypervisor | undefined
  /** Pods in the agents' namespaces on this node; read only when they decide something. */
  pods: readonly Pod[]
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

const frozen = (hypervisor: Hypervisor | undefined): boolean => hypervisor?.spec.maintenance === 'termination'

export function decide({ name, node, hypervisor }: Seen, options: Options): Step {
  if (!node) return hypervisor && (hypervisor.status?.numInstances ?? 0) > 0 ? { do: 'lament', hypervisor } : { do: 'nothing' }
  if (!mapping.isHypervisor(node)) return { do: 'nothing' }
  const labels = mapping.copiedLabels(node, options.shardKeys)
  const owner = mapping.ownerReference(node)
  // the server does not keep an empty map, so that applying one would never come to rest
  const metadata = { name, ...(Object.keys(labels).length > 0 && { labels }), ownerReferences: [owner] }
  const spec = hypervisor ? specFor(node, hypervisor, options) : firstSpec(node)
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
  const own = fields.filter(field => hypervisor.spec[field] !== undefined && owns(hypervisor, manager, 'spec', field))
  return Object.fromEntries(own.map(field => [field, hypervisor.spec[field]]))
}

const say = (value: unknown): string => (Array.isArray(value) ? value.map(String).sort().join(',') : String(value))

const differing = (wanted: Spec, live: Spec): Spec =>
  Object.fromEntries(Object.entries(wanted).filter(([field, value]) => say(value) !== say(live[field as keyof Spec])))

/** HV-25: asked only when the host is drained and the taint tells its agents to go. */
export const agentsMustLeave = (node: Node | undefined, hypervisor: Hypervisor | undefined): boolean =>
  node !== undefined && mapping.isBeingOffboarded(node) && isFalse(hypervisor, 'Evicting')

/** What a failed write of the spec looks like to whoever reads the status. */
export type Outcome = { ok: true } | { ok: false; reason: string }

/** The status that this function owns, from what is known after it acted. `hypervisor` is the object as it is stored now. */
export function reflect(seen: Seen, step: Step, outcome: Outcome, hypervisor: Hypervisor, now: Date, options: Options) {
  const { node, pods } = seen
  const terminating = node !== undefined && mapping.isTerminating(node)
  const verdict = ready({ ...readiness(node), hypervisor, terminating, now, ...options })
  const verdicts: Verdict[] = [
    verdict,
    ...terminatingVerdict(hypervisor, terminating),
    ...agentPodsVerdict(seen, hypervisor, pods)
  ]
  const addresses = node ? internalIps(node) : []
  const ip = internalIp(addresses, hypervisor.status?.internalIp, options.preferredFamily)
  return {
    ...(ip !== undefined && { internalIp: ip }),
    conditions: conditionSet(hypervisor.status?.conditions, verdicts, now, hypervisor.metadata.generation),
    ...(options.extended && extension(hypervisor, addresses, verdict, drift(hypervisor, step, outcome, now), now))
  }
}

function readiness(node: Node | undefined): { nodeReady?: { ready: boolean; reason: string } } {
  const condition = node?.status?.conditions?.find(({ type }) => type === 'Ready')
  return condition
    ? { nodeReady: { ready: condition.status === 'True', reason: condition.message || condition.reason || condition.status } }
    : {}
}

function terminatingVerdict(hypervisor: Hypervisor, terminating: boolean): Verdict[] {
  const type = 'Terminating'
  if (terminating) return [{ type, status: 'True', reason: 'Terminating', message: 'The node is being taken away.' }]
  if (!findCondition(hypervisor, type)) return []
  return [{ type, status: 'False', reason: 'Cancelled', message: 'The node is no longer being taken away.' }]
}

function agentPodsVerdict({ node }: Seen, hypervisor: Hypervisor, pods: readonly Pod[]): Verdict[] {
  if (!agentsMustLeave(node, hypervisor)) return []
  const type = 'AgentPodsEvicted'
  const left = remainingAgents(pods)
  if (left.length === 0) return [{ type, status: 'True', reason: 'NoAgentPods', message: 'No agent runs on the node any more.' }]
  return [{ type, status: 'False', reason: 'AgentPodsRunning', message: `Waiting for pods to end: ${left.join(', ')}` }]
}

type Status = NonNullable<Hypervisor['status']>
type Drift = NonNullable<Status['drift']>[number]

function drift(hypervisor: Hypervisor, step: Step, outcome: Outcome, now: Date): Drift[] {
  const known = (name: string) => hypervisor.status?.drift?.find(entry => entry.kind === 'spec' && entry.name === name)?.since
  const entry = (name: string, expected: string, actual: string): Drift => ({
    kind: 'spec',
    name,
    expected,
    actual,
    since: known(name) ?? timestamp(now),
    action: 'reported'
  })
  const withheld = step.do === 'keep' ? Object.entries(step.withheld) : []
  const entries = withheld.map(([field, value]) => entry(field, say(value), say(hypervisor.spec[field as keyof Spec])))
  return outcome.ok ? entries : [...entries, entry('node', 'the spec follows the node', outcome.reason)]
}

/** HV-3: Drover's own fields. A new phase is also a line of the history, of which this function keeps its newest ten. */
function extension(hypervisor: Hypervisor, addresses: string[], verdict: Ready, drift: Drift[], now: Date): Partial<Status> {
  const after = phase(hypervisor, verdict)
  const before = hypervisor.status?.phase
  const own = (hypervisor.status?.history ?? []).filter(({ actor }) => actor === manager)
  const time = timestamp(now)
  const line = {
    id: `phase-${time}`,
    time,
    kind: 'phase',
    ...(before && { from: before }),
    to: after,
    reason: verdict.reason,
    actor: manager
  }
  const history = before === after ? own : [...own.filter(({ id }) => id !== line.id), line].slice(-10)
  return {
    observedGeneration: hypervisor.metadata.generation ?? 0,
    phase: after,
    internalIps: addresses,
    ...(drift.length > 0 && { drift }),
    history
  }
}

/** Whether time alone may change what the status says: the fast tick looks at these. */
export function isOpen(hypervisor: Hypervisor, now: Date, { healthGates, heartbeatStaleMs }: Options): boolean {
  if (isTrue(hypervisor, 'Terminating') && !isTrue(hypervisor, 'Offboarded')) return true
  const last = hypervisor.status?.agent?.lastHeartbeat
  if (!healthGates || last === undefined) return false
  const stale = now.getTime() - Date.parse(last) > heartbeatStaleMs
  return stale ? isTrue(hypervisor, 'Ready') : findCondition(hypervisor, 'Ready')?.reason === 'AgentLost'
}
