// Create, update, patch and apply: from what a client wants to what is stored.
import { check } from './check.ts'
import type { Call, Cluster } from './cluster.ts'
import { conform, decode, strictBody, strictPatch, type Strictness } from './decode.ts'
import { refuseEscalation } from './escalation.ts'
import { checkTexts, fillNew, fillWritten } from './kinds.ts'
import { apply, recordUpdate, type Writer } from './managers.ts'
import { finalizerWarnings, keptMetadata, newMetadata } from './metadata.ts'
import { at, listOf, omit, same, timestamp, shown, type Fields, type KubeObject } from './object.ts'
import { jsonPatch, mergePatch, strategicPatch } from './patch.ts'
import { isAllowed, refusal } from './rbac.ts'
import { present, qualifiedName, type Resource } from './resource.ts'
import { keepScope, withGeneration } from './scope.ts'
import { alreadyExists, ApiError, badRequest, conflict, forbidden, internal, invalid, notFound } from './status.ts'
import { invalidValue } from './causes.ts'
import type { Store } from './store.ts'

export interface Written {
  object: KubeObject
  created: boolean
}

const writerOf = ({ clock }: Cluster, { options, subresource, resource }: Call): Writer => ({
  manager: options.fieldManager,
  subresource,
  apiVersion: resource.apiVersion,
  time: timestamp(clock())
})

export async function create(cluster: Cluster, call: Call, body: unknown): Promise<Written> {
  const object = decode(call, body)
  checkTexts(call.resource, object)
  if (call.name && object.metadata.name && call.name !== object.metadata.name) throw nameMismatch(object.metadata.name, call.name)
  return insert(cluster, call, { ...object, metadata: omit(object.metadata, 'managedFields') }, strictBody(call))
}

async function insert(cluster: Cluster, call: Call, wanted: KubeObject, refuse: Strictness): Promise<Written> {
  const { resource, namespace, options } = call
  checkNamespace(cluster, call, wanted.metadata.name)
  const { store, clock } = cluster
  const now = timestamp(clock())
  const conformed = conform(call, wanted, refuse)
  const metadata = newMetadata(conformed.metadata, namespace, now, resource.hasGeneration)
  const reset = resource.hasStatus ? omit(conformed, 'status') : conformed
  const filled = fillWritten(resource, fillNew(resource, { ...reset, metadata }, now), now)
  const owned = metadata.managedFields
    ? filled
    : recordUpdate(undefined, filled, resource.schema, writerOf(cluster, call), resource.hasStatus)
  const named = { ...call, name: metadata.name }
  const mutated = await cluster.mutate(named, 'CREATE', owned, undefined)
  const object = mutated === owned ? owned : refit(named, mutated)
  refuseEscalation(store, named, object)
  check(resource, object)
  call.warnings.push(...finalizerWarnings(object.metadata))
  if (store.get(resource.shelf, namespace, object.metadata.name)) throw alreadyExists(resource, object.metadata.name)
  await cluster.admit(named, 'CREATE', object, undefined)
  if (store.get(resource.shelf, namespace, object.metadata.name)) throw alreadyExists(resource, object.metadata.name)
  if (options.dryRun) return { object, created: true }
  return { object: put(cluster, resource, object), created: true }
}

/** What webhooks made of it is pruned without a word. */
const refit = (call: Call, object: KubeObject): KubeObject =>
  conform({ ...call, options: { ...call.options, fieldValidation: 'Ignore' } }, object, strictPatch)

const toStored = (resource: Resource, object: KubeObject): KubeObject =>
  resource.convert ? (resource.convert.write(object) as KubeObject) : object

function checkNamespace({ store }: Cluster, { resource, namespace }: Call, name: string): void {
  if (!resource.namespaced) return
  const found = store.get('/namespaces', '', namespace)
  if (!found) throw notFound({ group: '', plural: 'namespaces', kind: 'Namespace' }, namespace)
  if (found.metadata.deletionTimestamp)
    throw forbidden(resource, name, `unable to create new content in namespace ${namespace} because it is being terminated`)
}

const nameMismatch = (name: string, onUrl: string): Error =>
  badRequest(`the name of the object (${name}) does not match the name on the URL (${onUrl})`)

export async function update(cluster: Cluster, call: Call, body: unknown): Promise<Written> {
  const wanted = decode(call, body)
  const { resource, name } = call
  checkTexts(resource, wanted)
  if (!wanted.metadata.name) wanted.metadata.name = resource.custom ? '' : name
  if (wanted.metadata.name !== name) throw nameMismatch(wanted.metadata.name, name)
  const version = wanted.metadata.resourceVersion
  return change(cluster, call, strictBody(call), () => {
    if (!version && resource.custom)
      throw invalid(qualifiedName(resource).split('.')[0] ?? '', resource.group, name, [
        invalidValue('metadata.resourceVersion', 0, 'must be specified for an update')
      ])
    return wanted
  })
}

const patchTypes = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml']
export const patchTypesOf = ({ custom }: Resource): string[] =>
  custom ? patchTypes : [...patchTypes.slice(0, 2), 'application/strategic-merge-patch+json', 'application/apply-patch+yaml']

export async function patch(cluster: Cluster, call: Call, type: string, body: unknown): Promise<Written> {
  if (type === 'application/apply-patch+yaml') return serverSideApply(cluster, call, body)
  return change(cluster, call, strictPatch, live => {
    if (type === 'application/json-patch+json') return jsonPatch(live, body) as KubeObject
    if (type === 'application/merge-patch+json') return mergePatch(live, body) as KubeObject
    return strategicPatch(live, body, call.resource.schema) as KubeObject
  })
}

async function serverSideApply(cluster: Cluster, call: Call, body: unknown): Promise<Written> {
  const { resource, name, options } = call
  const { apiVersion = '', kind = '' } = (body ?? {}) as Fields
  if (apiVersion !== resource.apiVersion || kind !== resource.kind)
    throw badRequest(
      `invalid object type: ${shown(apiVersion).includes('/') ? '' : '/'}${shown(apiVersion)}, Kind=${shown(kind)}`
    )
  const config = decode(call, body)
  if (!config.metadata.name) config.metadata.name = name
  if (config.metadata.name !== name) throw nameMismatch(config.metadata.name, name)
  if (config.metadata.managedFields) throw badRequest('metadata.managedFields must be nil')
  const writer = writerOf(cluster, call)
  const laid = (live: KubeObject | undefined): KubeObject =>
    apply(live, config, resource.schema, writer, resource.hasStatus, options.force)
  const exists = cluster.store.get(resource.shelf, call.namespace, name)
  if (exists || call.subresource) return change(cluster, call, strictPatch, laid, true)
  const { group, plural } = resource
  const creates = { verb: 'create', group, resource: plural, subresource: '', namespace: call.namespace, name, path: undefined }
  if (!isAllowed(cluster.store, call.user, creates)) throw refusal(call.user, creates)
  const { uid } = config.metadata
  if (uid)
    throw conflict(resource, name, `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`)
  return insert(cluster, call, laid(undefined), strictPatch)
}

const attempts = 5

// The live object may change while webhooks are asked; then everything is done again on the newer one.
async function change(
  cluster: Cluster,
  call: Call,
  refuse: Strictness,
  transform: (live: KubeObject) => KubeObject,
  applied = false
): Promise<Written> {
  const { resource, namespace, name, options } = call
  for (let attempt = 0; attempt < attempts; attempt++) {
    const stored = cluster.store.get(resource.shelf, namespace, name)
    if (!stored) throw notFound(resource, name)
    const live = present(resource, stored)
    call.warnings.length = 0
    const wanted = transform(live)
    checkPreconditions(call, live, wanted)
    const known = judgedBy.get(live) === resource.schema ? live : undefined
    const object = await prepareUpdate(cluster, call, { live, known }, wanted, refuse, applied)
    await cluster.admit(call, 'UPDATE', object, live)
    if (cluster.store.get(resource.shelf, namespace, name) !== stored) continue
    if (options.dryRun || same(object, live)) return { object, created: false }
    return { object: commit(cluster, resource, object), created: false }
  }
  throw conflict(resource, name)
}

function checkPreconditions({ resource, namespace, name }: Call, live: KubeObject, { metadata }: KubeObject): void {
  const { resourceVersion, uid } = metadata
  if (resourceVersion && !/^\d+$/.test(resourceVersion))
    throw internal(`strconv.ParseUint: parsing ${JSON.stringify(resourceVersion)}: invalid syntax`)
  if (uid && uid !== live.metadata.uid) {
    const key = ['', resource.group, resource.plural, namespace, name].filter((part, i) => i === 0 || part).join('/')
    throw conflict(
      resource,
      name,
      `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${live.metadata.uid}`
    )
  }
  if (resourceVersion && resourceVersion !== live.metadata.resourceVersion) throw conflict(resource, name)
}

interface Before {
  live: KubeObject
  /** The same, if it was judged by the schema that is in force now. */
  known: KubeObject | undefined
}

async function prepareUpdate(
  cluster: Cluster,
  call: Call,
  { live, known }: Before,
  wanted: KubeObject,
  refuse: Strictness,
  applied: boolean
): Promise<KubeObject> {
  const { resource, subresource } = call
  const now = timestamp(cluster.clock())
  const fit = (given: KubeObject): KubeObject => {
    const scoped = keepScope(resource, subresource, given, live)
    return fillWritten(resource, { ...scoped, metadata: keptMetadata(scoped.metadata, live.metadata) }, now)
  }
  const filled = fit(conform(call, wanted, refuse, known))
  const owned = applied ? filled : recordUpdate(live, filled, resource.schema, writerOf(cluster, call), resource.hasStatus)
  const mutated = await cluster.mutate(call, 'UPDATE', owned, live)
  const object = withGeneration(resource, mutated === owned ? owned : fit(refit(call, mutated)), live)
  refuseEscalation(cluster.store, call, object, live)
  check(resource, object, live, known)
  call.warnings.push(...finalizerWarnings(object.metadata))
  return object
}

/** An object that is being deleted goes when nothing holds it any longer. */
function commit(cluster: Cluster, resource: Resource, object: KubeObject): KubeObject {
  if (object.metadata.deletionTimestamp && !isHeld(object)) {
    cluster.store.remove(resource.shelf, toStored(resource, object))
    return object
  }
  return put(cluster, resource, object)
}

/** By which schema a stored object was judged: of the next version only what differs from it is looked at. */
const judgedBy = new WeakMap<KubeObject, Resource['schema']>()

function put({ store }: Cluster, resource: Resource, object: KubeObject): KubeObject {
  const kept = toStored(resource, object)
  const stored = present(resource, putOrWithoutManagers(store, resource.shelf, kept))
  judgedBy.set(stored, resource.schema)
  return stored
}

/** Of an object that is too large the real server gives up the managers first. */
function putOrWithoutManagers(store: Store, shelf: string, object: KubeObject): KubeObject {
  try {
    return store.put(shelf, object)
  } catch (err) {
    if (!(err instanceof ApiError && object.metadata.managedFields)) throw err
    return store.put(shelf, { ...object, metadata: omit(object.metadata, 'managedFields') })
  }
}

const isHeld = (object: KubeObject): boolean =>
  (object.metadata.finalizers ?? []).length > 0 ||
  listOf(object.kind === 'Namespace' ? at(object, 'spec', 'finalizers') : []).length > 0 ||
  (object.metadata.deletionGracePeriodSeconds ?? 0) > 0
