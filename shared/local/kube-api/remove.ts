// Deletion: at once, or by a timestamp that finalizers, the garbage collector or a kubelet act upon.
import type { Call, Cluster } from './cluster.ts'
import { at, fieldsOf, timestamp, type Fields, type KubeObject } from './object.ts'
import { present } from './resource.ts'
import { conflict, notFound } from './status.ts'

export const foreground = 'foregroundDeletion'
export const orphan = 'orphan'

export interface DeleteOptions {
  preconditions: { uid?: string; resourceVersion?: string }
  policy: 'Background' | 'Foreground' | 'Orphan' | undefined
  gracePeriodSeconds: number | undefined
}

const policies = ['Background', 'Foreground', 'Orphan'] as const

export function deleteOptions(body: unknown, query: URLSearchParams): DeleteOptions {
  const given = fieldsOf(body)
  const asked =
    given.propagationPolicy ?? query.get('propagationPolicy') ?? (given.orphanDependents === true ? 'Orphan' : undefined)
  const grace = given.gracePeriodSeconds ?? query.get('gracePeriodSeconds')
  return {
    preconditions: fieldsOf(given.preconditions),
    policy: policies.find(policy => policy === asked),
    gracePeriodSeconds: grace === null || grace === undefined ? undefined : Number(grace)
  }
}

export interface Removed {
  object: KubeObject
  gone: boolean
}

export async function remove(cluster: Cluster, call: Call, options: DeleteOptions): Promise<Removed> {
  const { resource, namespace, name } = call
  const stored = cluster.store.get(resource.shelf, namespace, name)
  if (!stored) throw notFound(resource, name)
  checkPreconditions(call, stored, options)
  await cluster.admit(call, 'DELETE', undefined, present(resource, stored))
  const current = cluster.store.get(resource.shelf, namespace, name)
  if (!current) throw notFound(resource, name)
  const marked = mark(current, options, cluster.clock())
  if (call.options.dryRun) return { object: present(resource, marked ?? current), gone: !marked }
  if (!marked) return { object: present(resource, cluster.store.remove(resource.shelf, current)), gone: true }
  if (marked === current) return { object: present(resource, current), gone: false }
  return { object: present(resource, cluster.store.put(resource.shelf, marked)), gone: false }
}

// Here the real server speaks of the kind, not of the resource.
function checkPreconditions(
  { resource: { group, kind }, name }: Call,
  { metadata }: KubeObject,
  { preconditions }: DeleteOptions
): void {
  const { uid, resourceVersion } = preconditions
  const differs = (what: string, asked: string, found: string | undefined, then: string): Error =>
    conflict(
      { group, plural: kind, kind },
      name,
      `the ${what} in the precondition (${asked}) does not match the ${what} in record (${found}). The object might have been ${then}`
    )
  if (uid && uid !== metadata.uid) throw differs('UID', uid, metadata.uid, 'deleted and then recreated')
  if (resourceVersion && resourceVersion !== metadata.resourceVersion)
    throw differs('ResourceVersion', resourceVersion, metadata.resourceVersion, 'modified')
}

/** The object as it waits for its end; itself when it waits already; undefined when it can go at once. */
function mark(object: KubeObject, { policy, gracePeriodSeconds }: DeleteOptions, now: Date): KubeObject | undefined {
  const { metadata } = object
  const finalizers = finalizersFor(metadata.finalizers ?? [], policy)
  const isNamespace = object.apiVersion === 'v1' && object.kind === 'Namespace'
  const grace = gracePeriod(object, gracePeriodSeconds)
  if (finalizers.length === 0 && grace === 0 && !isNamespace) return undefined
  const shorter = grace < (metadata.deletionGracePeriodSeconds ?? Infinity)
  if (metadata.deletionTimestamp && !shorter && finalizers.length === (metadata.finalizers ?? []).length) return object
  const generation =
    metadata.generation !== undefined && !metadata.deletionTimestamp ? { generation: metadata.generation + 1 } : {}
  const deletionTimestamp = timestamp(new Date(now.getTime() + grace * 1000))
  const ending: KubeObject['metadata'] = { ...metadata, ...generation, deletionTimestamp, deletionGracePeriodSeconds: grace }
  if (finalizers.length > 0) ending.finalizers = finalizers
  const marked = { ...object, metadata: ending }
  if (!isNamespace) return marked
  const { deletionGracePeriodSeconds: _, ...own } = ending // namespaces know no grace
  return { ...object, metadata: own, status: { ...fieldsOf(object.status), phase: 'Terminating' } }
}

function finalizersFor(finalizers: string[], policy: DeleteOptions['policy']): string[] {
  const others = policy ? finalizers.filter(name => name !== foreground && name !== orphan) : finalizers
  if (policy === 'Foreground') return [...others, foreground]
  return policy === 'Orphan' ? [...others, orphan] : others
}

// Only a pod that runs on a node is given time: its kubelet ends it and then deletes it for good.
function gracePeriod(object: KubeObject, asked: number | undefined): number {
  const isRunning = object.apiVersion === 'v1' && object.kind === 'Pod' && at(object, 'spec', 'nodeName') !== undefined
  if (!isRunning || ['Succeeded', 'Failed'].includes(String(at(object, 'status', 'phase')))) return 0
  const wanted = asked ?? at(object, 'spec', 'terminationGracePeriodSeconds')
  return typeof wanted === 'number' ? Math.max(wanted, 0) : 30
}

/** The answer of a deletion that is complete. */
export const deletedStatus = ({ resource: { group, plural } }: Call, { metadata: { name, uid } }: KubeObject): Fields => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  details: { name, ...(group && { group }), kind: plural, uid }
})
