// The rules of metadata that hold for every kind.
import { randomBytes, randomUUID } from 'node:crypto'
import { forbiddenField, invalidValue, required } from './causes.ts'
import { fieldsOf, type KubeObject, type Metadata } from './object.ts'
import type { Resource } from './resource.ts'
import { badRequest, type Cause } from './status.ts'

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const subdomainRule =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const labelRule =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
const namePart = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/
const namePartRule =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/
const labelValueRule =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

/** A map of strings that holds something else is refused while decoding, before any validation. */
export function checkMetadataTypes(resource: Resource, object: KubeObject): void {
  for (const key of ['labels', 'annotations'] as const)
    for (const value of Object.values(fieldsOf(object.metadata[key])))
      if (typeof value !== 'string') throw notText(resource, 'ObjectMeta', key, value)
}

export const notText = ({ kind, version }: Resource, type: string, field: string, value: unknown): Error =>
  badRequest(
    `${kind} in version "${version}" cannot be handled as a ${kind}: json: cannot unmarshal ${typeof value} into Go struct field ${type}.${field} of type string`
  )

export const newMetadata = (given: Metadata, namespace: string, now: string, generation: boolean): Metadata => {
  const { deletionTimestamp: _, deletionGracePeriodSeconds: __, resourceVersion: ___, ...metadata } = given
  const name = given.name || (given.generateName ? `${given.generateName}${suffix()}` : '')
  return {
    ...metadata,
    name,
    ...(namespace && { namespace }),
    uid: randomUUID(),
    creationTimestamp: now,
    ...(generation && { generation: 1 })
  }
}

// Five characters without vowels and look-alikes, so that no name becomes a word.
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'
const suffix = (): string => Array.from(randomBytes(5), byte => alphabet[byte % alphabet.length]).join('')

/** What an update cannot change is taken from the live object. */
export const keptMetadata = (given: Metadata, live: Metadata): Metadata => {
  const metadata: Metadata = { ...given, name: live.name }
  const kept = [
    'namespace',
    'uid',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'generation',
    'resourceVersion',
    'generateName'
  ] as const
  for (const key of kept) {
    if (live[key] === undefined) delete metadata[key]
    else Object.assign(metadata, { [key]: live[key] })
  }
  return metadata
}

export function validateMetadata(resource: Resource, metadata: Metadata): Cause[] {
  const causes: Cause[] = []
  if (!metadata.name) causes.push(required('metadata.name', 'name or generateName is required'))
  else causes.push(...validateName(resource, metadata.name))
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    causes.push(...validateKey('metadata.labels', key))
    causes.push(...validateLabelValue('metadata.labels', value))
  }
  for (const key of Object.keys(metadata.annotations ?? {}))
    causes.push(...validateKey('metadata.annotations', key.toLowerCase()))
  for (const owner of metadata.ownerReferences ?? [])
    for (const key of ['apiVersion', 'kind', 'name', 'uid'] as const)
      if (!owner[key]) causes.push(invalidValue(`metadata.ownerReferences.${key}`, owner[key] ?? '', 'must not be empty'))
  return causes
}

function validateName({ group, kind }: Resource, name: string): Cause[] {
  // RBAC names may hold colons: they are only path segments.
  if (group === 'rbac.authorization.k8s.io')
    return /[/%]|^\.{1,2}$/.test(name) ? [invalidValue('metadata.name', name, "may not contain '/'")] : []
  const short = kind === 'Namespace' || kind === 'Service'
  if ((short ? label : subdomain).test(name) && name.length <= (short ? 63 : 253)) return []
  return [invalidValue('metadata.name', name, short ? labelRule : subdomainRule)]
}

export function validateLabelValue(field: string, value: string): Cause[] {
  if (!labelValue.test(value)) return [invalidValue(field, value, labelValueRule)]
  return value.length > 63 ? [invalidValue(field, value, 'must be no more than 63 bytes')] : []
}

export function validateKey(field: string, key: string): Cause[] {
  const [name = '', prefix, ...more] = key.split('/').toReversed()
  if (more.length > 0 || !namePart.test(name)) return [invalidValue(field, key, namePartRule)]
  return prefix === undefined || subdomain.test(prefix) ? [] : [invalidValue(field, key, `prefix part ${subdomainRule}`)]
}

export function finalizerWarnings({ finalizers = [] }: Metadata): string[] {
  return finalizers
    .filter(name => !name.includes('/') && !['foregroundDeletion', 'orphan', 'kubernetes'].includes(name))
    .map(
      name =>
        `metadata.finalizers: "${name}": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`
    )
}

export function validateMetadataUpdate(next: Metadata, live: Metadata): Cause[] {
  const added = (next.finalizers ?? []).filter(name => !live.finalizers?.includes(name))
  if (!live.deletionTimestamp || added.length === 0) return []
  const list = added.map(name => JSON.stringify(name)).join(', ')
  const why = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`
  return [forbiddenField('metadata.finalizers', why)]
}
