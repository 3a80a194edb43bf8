// What the status says of a Node and its Hypervisor. Pure.
import { conditionSet, findCondition, timestamp, type Verdict } from '../../shared/kube/conditions.ts'
import type { Node, Pod } from '../../shared/kube/kinds.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { internalIp, internalIps } from './addresses.ts'
import { remainingAgents } from './agent-pods.ts'
import { tainted } from './audit.ts'
import { agentsMustLeave, manager, say, type Options, type Seen, type Spec, type Step } from './decide.ts'
import * as mapping from './mapping.ts'
import { networkVerdict } from './network.ts'
import { phase } from './phase.ts'
import { ready, type Ready } from './ready.ts'

type Status = NonNullable<Hypervisor['status']>

/** What a failed write of the spec looks like to whoever reads the status. */
export type Outcome = { ok: true } | { ok: false; reason: string }

/** The status that this function owns, from what is known after it acted. `hypervisor` is the object as it is stored now. */
export function reflect(
  seen: Seen,
  step: Step,
  outcome: Outcome,
  hypervisor: Hypervisor,
  now: Date,
  options: Options
): Partial<Status> {
  const { node, pods } = seen
  const terminating = node !== undefined && mapping.isTerminating(node)
  const network = networkVerdict(seen.ovsNode, now)
  const verdict = ready({ ...readiness(node), hypervisor, terminating, now, network, ...options })
  const verdicts: Verdict[] = [
    verdict,
    ...terminatingVerdict(hypervisor, terminating),
    ...agentPodsVerdict(seen, hypervisor, pods),
    tainted(hypervisor),
    ...(network ? [network] : [])
  ]
  const addresses = node ? internalIps(node) : []
  const ip = internalIp(addresses, hypervisor.status?.internalIp, options.preferredFamily)
  const own = options.extended ? extension(hypervisor, addresses, verdict, drift(hypervisor, step, outcome, now), now) : {}
  if (step.do === 'observe') return own // HV-8: what both write would be a quarrel with the operator that still rules
  return {
    ...(ip !== undefined && { internalIp: ip }),
    conditions: conditionSet(hypervisor.status?.conditions, verdicts, now, hypervisor.metadata.generation),
    ...own
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
  const withheld = 'withheld' in step ? Object.entries(step.withheld) : []
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

/** When the agent was last heard, if it is lost while its node seems fine (ha.md §3). */
export function silentSince({ node }: Seen, { status }: Hypervisor, after: Partial<Status>): string | undefined {
  const lost = after.conditions?.some(({ type, reason }) => type === 'Ready' && reason === 'AgentLost')
  return lost && readiness(node).nodeReady?.ready !== false ? status?.agent?.lastHeartbeat : undefined
}
