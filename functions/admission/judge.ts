// Which rules are asked about which kind, with what knowledge. Everything is judged at once unless a Secret or a permission must be looked up.
import type { Asked, Policy } from '../../shared/rules/asked.ts'
import { checkEviction } from '../../shared/rules/eviction.ts'
import { hostOf } from '../../shared/rules/fleet.ts'
import { checkHypervisor } from '../../shared/rules/hypervisor.ts'
import type { ClusterOptions, Known, MachineFacts } from '../../shared/rules/machine-facts.ts'
import { checkMachine } from '../../shared/rules/machine.ts'
import { checkNetworkConfiguration, checkNetworkDeletion } from '../../shared/rules/network-configuration.ts'
import { checkOVSNode } from '../../shared/rules/ovs-node.ts'
import type { Finding, Verdict } from '../../shared/rules/rule.ts'
import { hasShape } from '../../shared/rules/shape.ts'
import type { Crd } from '../../shared/schema/crd.ts'
import { Eviction } from '../../shared/schema/eviction.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import type { ObjectMeta } from '../../shared/schema/kind.ts'
import { Machine } from '../../shared/schema/machine.ts'
import { NetworkConfiguration } from '../../shared/schema/network-configuration.ts'
import { isRecord } from '../../shared/schema/openapi.ts'
import { OVSNode } from '../../shared/schema/ovs-node.ts'
import { at } from '../../shared/schema/violation.ts'
import { foreignNamespaces, secretName } from './references.ts'
import type { Knowledge } from './knowledge.ts'
import type { Review } from './review.ts'

export interface Bench {
  knowledge: Knowledge
  policy: Policy
  options: ClusterOptions
}

interface Stored {
  metadata: ObjectMeta
}
/** What a review is about, after a look that its metadata is what everybody relies on. */
interface Case<T extends Stored = Stored> {
  review: Review
  object: T
  old: T | undefined
}

type Judging = (asked: Case<never>, bench: Bench) => Verdict | Promise<Verdict>

const fine: Verdict = { violations: [], warnings: [] }
const nowhere: ReadonlySet<string> = new Set()
const notAsked = (): Known<true> => ({ known: false })

const asked = <T extends Stored>({ review, object, old }: Case<T>, { knowledge, policy }: Bench): Asked<T> => ({
  operation: review.operation,
  subresource: review.subresource,
  object,
  old,
  user: review.user,
  hosts: knowledge.hosts(),
  evictions: knowledge.evictions(),
  policy
})

function judgeMachine({ review, object, old }: Case<Machine>, { knowledge, options }: Bench): Verdict | Promise<Verdict> {
  if (review.operation === 'DELETE' || review.subresource) return fine // A18
  const namespace = object.metadata.namespace ?? review.namespace ?? ''
  const facts: MachineFacts = {
    ...options,
    network: name => knowledge.network(name, namespace),
    storageClass: name => knowledge.storageClass(name),
    secret: notAsked,
    mayCloneFrom: nowhere
  }
  const wanted = secretName(object)
  const foreign = foreignNamespaces(object)
  if (wanted === undefined && foreign.size === 0) return checkMachine(object, old, facts)
  // A source that is there already was judged when it came.
  const allowed = old ? foreignNamespaces(old) : nowhere
  const permissions = [...foreign].map(async name =>
    allowed.has(name) || (await knowledge.mayClone(review.user, name)) ? [name] : []
  )
  const secret: Known<true> | Promise<Known<true>> = wanted === undefined ? notAsked() : knowledge.secret(wanted, namespace)
  return Promise.all([secret, Promise.all(permissions)]).then(([found, permitted]) =>
    checkMachine(object, old, { ...facts, secret: () => found, mayCloneFrom: new Set(permitted.flat()) })
  )
}

/** HV-12: of two hosts that are asked for in one instant the second is judged as if the first were away. */
function judgeHost(about: Case<Hypervisor>, bench: Bench): Verdict {
  const verdict = checkHypervisor(asked(about, bench))
  const { review, object, old } = about
  const begins = !object.metadata.deletionTimestamp && object.spec?.maintenance && !old?.spec?.maintenance
  const stored = verdict.violations.length === 0 && review.operation === 'UPDATE' && !review.subresource && !review.dryRun
  if (begins && stored) bench.knowledge.letGo(hostOf(object))
  return verdict
}

function judgeNetwork({ review, object, old }: Case<NetworkConfiguration>): Verdict {
  if (review.subresource) return fine
  return review.operation === 'DELETE' ? checkNetworkDeletion(object) : checkNetworkConfiguration(object, old)
}

const kinds: Readonly<Record<string, { kind: Crd; judge: Judging }>> = {
  'vitistack.io/machines': { kind: Machine, judge: judgeMachine },
  'vitistack.io/networkconfigurations': { kind: NetworkConfiguration, judge: judgeNetwork },
  'kvm.cloud.sap/hypervisors': { kind: Hypervisor, judge: judgeHost },
  'kvm.cloud.sap/evictions': { kind: Eviction, judge: (about: Case<Eviction>, bench) => checkEviction(asked(about, bench)) },
  'ovs.c5c3.io/ovsnodes': { kind: OVSNode, judge: (about: Case<OVSNode>, bench) => checkOVSNode(asked(about, bench)) }
}

/** What rules are known for, as `vitistack.io/machines`. */
export const judged: ReadonlySet<string> = new Set(Object.keys(kinds))

/** Kinds that nobody configured us for are let through: a webhook that refuses what it does not know locks the cluster. */
export function judge(review: Review, bench: Bench): Verdict | Promise<Verdict> {
  const known = Object.hasOwn(kinds, review.resource) ? kinds[review.resource] : undefined
  if (!known) return fine
  const old = review.operation === 'CREATE' ? undefined : earlier(known.kind, review)
  if (review.operation === 'DELETE') return old ? known.judge({ review, object: old, old: undefined } as never, bench) : fine
  const wrong = metadataFindings(review.object, review)
  return wrong.length > 0
    ? { violations: wrong, warnings: [] }
    : known.judge({ review, object: review.object, old } as never, bench)
}

/** The stored object, unless an older schema let through what no rule can read. Words that a newer one allows are no reason to forget it. */
function earlier(kind: Crd, review: Review): unknown {
  const readable = metadataFindings(review.old, review).length === 0 && hasShape(kind, review.old)
  return readable ? review.old : undefined
}

/** Of the metadata what rules read. The API server has looked at it already; whoever else asks gets words instead of a crash. */
function metadataFindings(object: unknown, { name, namespace }: Review): Finding[] {
  if (!isRecord(object)) return [{ id: 'schema', path: '', message: 'must be an object' }]
  const { metadata } = object
  if (!isRecord(metadata)) return [{ id: 'schema', path: 'metadata', message: 'must be an object' }]
  metadata.name ??= name || (typeof metadata.generateName === 'string' ? `${metadata.generateName}new` : undefined)
  if (namespace !== undefined) metadata.namespace ??= namespace
  const found: Finding[] = []
  const tell = (field: string, message: string) => found.push({ id: 'schema', path: at('metadata', field), message })
  for (const field of texts)
    if (typeof metadata[field] !== 'string' && (field === 'name' || metadata[field] !== undefined)) tell(field, 'must be a text')
  for (const field of maps) if (!isTextMap(metadata[field])) tell(field, 'must map texts to texts')
  return found
}

const texts = ['name', 'namespace', 'deletionTimestamp'] as const
const maps = ['labels', 'annotations'] as const

function isTextMap(value: unknown): boolean {
  if (value === undefined || value === null) return true
  if (!isRecord(value)) return false
  for (const key in value) if (typeof value[key] !== 'string') return false
  return true
}
