// From a request's body to an object that its resource can hold.
import { isFields, shown, type Fields, type KubeObject } from './object.ts'
import type { Call } from './cluster.ts'
import { checkMetadataTypes } from './metadata.ts'
import { invalidValue } from './causes.ts'
import { applyDefaults, prune } from './prune.ts'
import { badRequest, invalid } from './status.ts'

export function decode(call: Call, body: unknown): KubeObject {
  const { resource, namespace } = call
  if (!isFields(body)) throw unrecognized(call, "couldn't get version/kind; json parse error: expected an object")
  const kind = body.kind ?? (resource.custom ? undefined : resource.kind)
  if (kind === undefined) throw unrecognized(call, `Object 'Kind' is missing in '${JSON.stringify(body)}'`, JSON.stringify(body))
  const apiVersion = body.apiVersion ?? resource.apiVersion
  if (apiVersion !== resource.apiVersion)
    throw badRequest(
      `the API version in the data (${shown(apiVersion)}) does not match the expected API version (${resource.apiVersion})`
    )
  const metadata = isFields(body.metadata) ? body.metadata : {}
  const object = { ...body, apiVersion, kind, metadata: { ...metadata, name: metadata.name ?? '' } } as KubeObject
  if (kind !== resource.kind) {
    const name = object.metadata.name
    if (!resource.custom)
      throw badRequest(`${shown(kind)} in version "${resource.version}" cannot be handled as a ${resource.kind}`)
    throw invalid(shown(kind), resource.group, name, [invalidValue('kind', kind, `must be ${resource.kind}`)])
  }
  if (resource.namespaced && object.metadata.namespace && object.metadata.namespace !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  checkMetadataTypes(resource, object)
  return object
}

const unrecognized = ({ resource }: Call, why: string, shown = ''): Error =>
  badRequest(`the object provided is unrecognized (must be of type ${resource.kind}): ${why}${shown ? ` (${shown})` : ''}`)

export type Strictness = (unknown: string[], object: Fields) => Error

/** Create and update refuse with 400. */
export const strictBody =
  ({ resource: { kind, version } }: Call): Strictness =>
  unknown =>
    badRequest(
      `${kind} in version "${version}" cannot be handled as a ${kind}: strict decoding error: ${complaints(unknown).join(', ')}`
    )

/** A patch is invalid, and the answer shows what it would have led to. */
export const strictPatch: Strictness = (unknown, object) =>
  invalid('', '', '', [invalidValue('patch', JSON.stringify(object), `strict decoding error: ${complaints(unknown).join(', ')}`)])

const complaints = (unknown: string[]): string[] => unknown.map(field => `unknown field ${JSON.stringify(field)}`)

const knownMetadata = new Set([
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields'
])

/** Drops unknown fields, tells or refuses them as asked, and fills the schema's defaults. What is the very same in `known` was treated so before. */
export function conform(call: Call, object: KubeObject, refuse: Strictness, known?: KubeObject): KubeObject {
  const { resource, options, warnings } = call
  if (!resource.custom) return object
  const unknown: string[] = []
  const metadata: Fields = {}
  for (const [key, value] of Object.entries(object.metadata)) {
    if (knownMetadata.has(key)) metadata[key] = value
    else unknown.push(`metadata.${key}`)
  }
  const pruned = prune({ ...object, metadata }, resource.schema, unknown, known, '', true)
  if (unknown.length > 0 && options.fieldValidation === 'Strict') throw refuse(unknown.sort(), object)
  if (options.fieldValidation === 'Warn') warnings.push(...complaints(unknown.sort()))
  return applyDefaults(pruned, resource.schema, known) as KubeObject
}
