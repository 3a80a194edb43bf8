import { heartbeatMissed } from '../../shared/events/libvirt.ts'
import { ovsAgentLost } from '../../shared/events/ovs.ts'
import { nodeVanished } from '../../shared/events/workflow.ts'
import { conditionSet } from '../../shared/kube/conditions.ts'
import { Node, Pod } from '../../shared/kube/kinds.ts'
import { KubeError, type Kube } from '../../shared/kube/index.ts'
import type { KeptList } from '../../shared/kube/kept-list.ts'
import type { Platform } from '../../shared/runtime/function.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { OVSNode } from '../../shared/schema/ovs-node.ts'
import { agentsMustLeave, decide, isOpen, type Options, type Seen, type Step } from './decide.ts'
import { hypervisorSelector } from './mapping.ts'
import { silencedReady } from './network.ts'
import { silentSince, reflect, type Outcome } from './reflect.ts'

export interface Deps extends Pick<Platform, 'clock' | 'emit' | 'log'> {
  kube: Kube
  /** For the fast tick, which only sees whether a host is due. */
  kept: { hosts: KeptList<Hypervisor>; ovsNodes: KeptList<OVSNode> }
  options: Options
  agentNamespaces: readonly string[]
  ovsNamespace: string
}

async function agentPods({ kube, agentNamespaces }: Deps, name: string): Promise<Pod[]> {
  const fieldSelector = `spec.nodeName=${name}`
  const lists = await Promise.all(agentNamespaces.map(namespace => kube.list(Pod, { namespace, fieldSelector })))
  return lists.flatMap(({ items }) => items)
}

/** The CRD in use takes an object without a spec, whatever the type says; then everything in it is unset. */
const whole = (hypervisor: Hypervisor | undefined): Hypervisor | undefined =>
  hypervisor && { ...hypervisor, spec: hypervisor.spec ?? {} }

async function complete({ name, node, hypervisor, ovsNode }: Omit<Seen, 'pods'>, deps: Deps): Promise<Seen> {
  const pods = agentsMustLeave(node, hypervisor) ? await agentPods(deps, name) : []
  return { name, node, hypervisor: whole(hypervisor), pods, ovsNode }
}

export async function look(name: string, deps: Deps): Promise<Seen> {
  const { kube, ovsNamespace } = deps
  const [node, hypervisor, ovsNode] = await Promise.all([
    kube.find(Node, name),
    kube.find(Hypervisor, name),
    kube.find(OVSNode, name, ovsNamespace).catch(ifNoSuchKind)
  ])
  return complete({ name, node, hypervisor, ovsNode }, deps)
}

/** A cluster without Open vSwitch needs no OVSNode. */
function ifNoSuchKind(error: unknown): undefined {
  if (!(error instanceof KubeError && error.code === 'NotFound')) throw error
}

/** Three listings serve all hosts of a tick; each host is read again only when something is to be written. */
export async function lookAtAll(deps: Deps): Promise<Seen[]> {
  const [nodes, hypervisors, ovsNodes] = await Promise.all([
    deps.kube.list(Node, { labelSelector: hypervisorSelector }),
    deps.kube.list(Hypervisor),
    deps.kube.list(OVSNode, { namespace: deps.ovsNamespace }).catch(ifNoSuchKind)
  ])
  const nodeOf = new Map(nodes.items.map(node => [node.metadata?.name ?? '', node]))
  const hypervisorOf = new Map(hypervisors.items.map(hypervisor => [hypervisor.metadata.name, hypervisor]))
  const names = new Set([...nodeOf.keys(), ...hypervisorOf.keys()])
  const ovsNodeOf = new Map(ovsNodes?.items.map(ovsNode => [ovsNode.metadata.name, ovsNode]))
  const seen = (name: string) =>
    complete({ name, node: nodeOf.get(name), hypervisor: hypervisorOf.get(name), ovsNode: ovsNodeOf.get(name) }, deps)
  return Promise.all([...names].map(seen))
}

/** The hosts that a glance at what was kept shows to be due. */
export async function dueNow({ kept, clock, options }: Deps): Promise<string[]> {
  const [hosts, ovsNodes] = await Promise.all([kept.hosts.all(), kept.ovsNodes.all().catch(ifNoSuchKind)])
  const now = clock()
  const open = hosts.filter(hypervisor => isOpen(hypervisor, now, options))
  const names = new Set(hosts.map(({ metadata }) => metadata.name)) // other machines have switches, too
  const silent = ovsNodes?.filter(one => names.has(one.metadata.name) && silencedReady(one, now) !== undefined) ?? []
  return [...new Set([...open, ...silent].map(({ metadata }) => metadata.name))]
}

/** decide → act → reflect for one host. A failure to write the spec is told in the status before it is thrown. */
export async function settle(seen: Seen, deps: Deps): Promise<void> {
  const { kube, options, clock } = deps
  const step = decide(seen, options)
  if (step.do === 'lament') return lament(step.hypervisor, deps)
  const { hypervisor, failure } = await act(seen, step, deps)
  if (seen.ovsNode) await tellSwitchSilence(seen.ovsNode, deps)
  if (hypervisor) {
    const outcome: Outcome = failure ? { ok: false, reason: failure.message } : { ok: true }
    const status = reflect(seen, step, outcome, hypervisor, clock(), options)
    await kube.applyStatus(Hypervisor, { metadata: { name: seen.name }, status }, { live: hypervisor })
    const lastSeen = silentSince(seen, hypervisor, status)
    if (lastSeen !== undefined) await tellSilence(seen.name, hypervisor, lastSeen, deps)
  }
  if (failure) throw failure
}

async function act(
  { name, node, hypervisor }: Seen,
  step: Step,
  { kube, log }: Deps
): Promise<{ hypervisor: Hypervisor | undefined; failure?: KubeError }> {
  if (step.do === 'observe')
    log.info({ host: name, exists: hypervisor !== undefined, would: step.withheld }, 'observed only (HV-8)')
  if (step.do === 'observe' && node && !hypervisor) await tellWanted(node, kube)
  if (step.do !== 'keep') return { hypervisor }
  try {
    return { hypervisor: await kube.apply(Hypervisor, step.wanted, { ...(hypervisor && { live: hypervisor }) }) }
  } catch (err) {
    if (!(err instanceof KubeError)) throw err
    return { hypervisor, failure: err }
  }
}

/** HV-8: there is no status to say it in yet. */
const tellWanted = (node: Node, kube: Kube): Promise<void> =>
  kube.event(
    { ...node, apiVersion: 'v1', kind: 'Node' },
    {
      type: 'Normal',
      reason: 'HypervisorWanted',
      action: 'Observe',
      note: 'Drover only observes; it would make a Hypervisor of this node.'
    }
  )

/** Told as often as it is seen, so that it is not lost; by its id it is one fact. */
const tellSilence = (host: string, { metadata }: Hypervisor, lastSeen: string, { emit }: Deps): Promise<void> =>
  emit({
    kind: heartbeatMissed,
    id: `${metadata.uid}/silent/${lastSeen}`,
    subject: host,
    partitionkey: host,
    data: { host, lastSeen }
  })

/** OV-53: under this function's own name, until the agent takes the condition back with its next write. */
async function tellSwitchSilence(ovsNode: OVSNode, { kube, emit, clock }: Deps): Promise<void> {
  const now = clock()
  const verdict = silencedReady(ovsNode, now)
  if (!verdict) return
  const { name, namespace = '', uid } = ovsNode.metadata
  const lastSeen = ovsNode.status?.observedAt ?? now.toISOString()
  await emit({
    kind: ovsAgentLost,
    id: `${uid}/silent/${lastSeen}`,
    subject: name,
    partitionkey: name,
    data: {
      node: name,
      object: name,
      before: 'heard',
      after: 'silent',
      reason: 'AgentSilent',
      detectedAt: lastSeen,
      evidence: {}
    }
  })
  const conditions = conditionSet(ovsNode.status?.conditions, [verdict], now)
  await kube.applyStatus(OVSNode, { metadata: { name, namespace }, status: { conditions } })
}

/** HV-20: somebody else switched the lifecycle on, so that taking the label away does not switch it off. */
export async function tellKeptLifecycle(seen: Seen, { kube, options }: Deps): Promise<void> {
  const step = decide(seen, options)
  if (step.do !== 'keep' || !step.keptLifecycle || !seen.hypervisor) return
  await kube.event(
    { ...seen.hypervisor, apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor' },
    {
      type: 'Normal',
      reason: 'LifecycleKept',
      action: 'FollowNode',
      note: 'The node has no lifecycle label any more, but lifecycleEnabled was set by another manager and stays true.'
    }
  )
}

/** HV-26: said while the object can still be read, or from the last that the cluster agent saw of it. */
export async function lament(last: Pick<Hypervisor, 'metadata' | 'status'>, { kube, emit, log }: Deps): Promise<void> {
  const { name, uid = '' } = last.metadata
  const instances = last.status?.instances?.map(({ id }) => id) ?? []
  const numInstances = last.status?.numInstances ?? instances.length
  const lastReady = last.status?.conditions?.find(({ type }) => type === 'Ready')?.reason
  log.warn({ host: name, numInstances }, 'a node vanished while servers were known on it')
  await kube.event(
    { apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor', metadata: { name, uid } },
    {
      type: 'Warning',
      reason: 'NodeVanished',
      action: 'FollowNode',
      note: `The Node is gone, but ${numInstances} servers were known on it: ${instances.slice(0, 10).join(', ')}`
    }
  )
  const data = { host: name, numInstances, instances, ...(lastReady && { lastReady }) }
  await emit({ kind: nodeVanished, id: `${uid}/vanished`, subject: name, partitionkey: name, data })
}
