// Who owns which field: metadata.managedFields, for plain writes and for server-side apply.
import { compare, type Comparison } from './compare.ts'
import {
  difference,
  emptySet,
  fromFieldsV1,
  hasAny,
  intersection,
  isEmpty,
  paths,
  sameSet,
  toFieldsV1,
  union,
  without,
  type FieldSet
} from './field-set.ts'
import { merge, release } from './merge.ts'
import { fieldsOf, omit, same, type KubeObject, type Metadata } from './object.ts'
import type { Schema } from './schema.ts'
import { ApiError, internal } from './status.ts'
import { claimed, misfit } from './typed.ts'

export interface Writer {
  manager: string
  subresource: string
  apiVersion: string
  time: string
}

type Kept = NonNullable<Metadata['managedFields']>[number]

interface Entry extends Writer {
  operation: 'Apply' | 'Update'
  readonly set: FieldSet
  /** As it was read, where nothing has changed. */
  kept?: Kept
}

// Nobody owns what the server keeps itself.
const unowned = [
  ['f:apiVersion'],
  ['f:kind'],
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'generation',
    'managedFields',
    'resourceVersion',
    'deletionTimestamp',
    'deletionGracePeriodSeconds'
  ].map(key => ['f:metadata', `f:${key}`])
]

// What the strategy resets cannot be owned through that endpoint either.
const resetBy = (subresource: string, hasStatus: boolean): string[][] =>
  subresource === 'status' ? [['f:spec'], ['f:metadata']] : hasStatus ? [['f:status']] : []

const readEntries = (object: KubeObject | undefined): Entry[] => (object?.metadata.managedFields ?? []).map(readEntry)

/** Most writes concern the fields of one manager: what the others have is not read. */
function readEntry(kept: Kept): Entry {
  let set: FieldSet | undefined
  return {
    manager: kept.manager ?? '',
    operation: kept.operation === 'Apply' ? 'Apply' : 'Update',
    apiVersion: kept.apiVersion ?? '',
    time: kept.time ?? '',
    subresource: kept.subresource ?? '',
    get set() {
      return (set ??= fromFieldsV1(fieldsOf(kept.fieldsV1)))
    },
    kept
  }
}

// Applied entries come first, then the updates, each by time: the order of the real server.
function writeEntries(entries: Entry[]): NonNullable<Metadata['managedFields']> {
  const rank = (entry: Entry): string => `${entry.operation} ${entry.time} ${entry.manager}`
  return entries
    .filter(entry => entry.kept || !isEmpty(entry.set))
    .sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
    .map(writeEntry)
}

function writeEntry(entry: Entry): Kept {
  if (entry.kept) return entry.kept
  const { manager, operation, apiVersion, time, subresource, set } = entry
  const head = { manager, operation, apiVersion, ...(time && { time }), fieldsType: 'FieldsV1', fieldsV1: toFieldsV1(set) }
  return subresource ? { ...head, subresource } : head
}

/** What others own after a write took some of it. */
const keep = (entries: Entry[], { changed, removed }: Comparison): Entry[] => {
  const isTouched = ({ kept }: Entry): boolean => {
    const tree = fieldsOf(kept?.fieldsV1)
    return hasAny(tree, changed) || hasAny(tree, removed)
  }
  return entries.map(entry => {
    if (!isTouched(entry)) return entry
    const { manager, operation, apiVersion, time, subresource, set } = entry
    return { manager, operation, apiVersion, time, subresource, set: difference(difference(set, changed), removed) }
  })
}

const withEntries = (object: KubeObject, entries: Entry[]): KubeObject => {
  const { managedFields: _, ...metadata } = object.metadata
  const written = writeEntries(entries)
  return { ...object, metadata: written.length > 0 ? { ...metadata, managedFields: written } : metadata }
}

const bare = (object: KubeObject | undefined): unknown =>
  object && { ...object, metadata: omit(object.metadata, 'managedFields') }

const isOwn = (entry: Entry, writer: Writer, operation: Entry['operation']): boolean =>
  entry.manager === writer.manager && entry.subresource === writer.subresource && entry.operation === operation

/** A create, update or patch: what it changed belongs to the writer from now on. */
export function recordUpdate(
  live: KubeObject | undefined,
  next: KubeObject,
  schema: Schema,
  writer: Writer,
  hasStatus: boolean
): KubeObject {
  const given = next.metadata.managedFields
  // A client that sends an empty list resets ownership; one that sends nothing leaves it as it was.
  const entries = readEntries(given && live && !same(given, live.metadata.managedFields) ? next : live)
  const compared = compare(bare(live) ?? emptyLike(schema), bare(next), schema)
  const { changed, removed } = compared
  const strip = [...unowned, ...resetBy(writer.subresource, hasStatus)]
  const mine = without(changed, strip)
  const others = entries.filter(entry => !isOwn(entry, writer, 'Update'))
  const kept = keep(others, compared)
  const before = entries.find(entry => isOwn(entry, writer, 'Update'))
  const set = union(difference(before?.set ?? emptySet(), removed), mine)
  return withEntries(next, [...kept, ownEntry(before, writer, 'Update', set)])
}

// Built-in structs are always there, so that creating one does not claim the struct itself.
const emptyLike = (schema: Schema): unknown => (schema.open ? { metadata: {}, spec: {}, status: {} } : { metadata: {} })

/** Server-side apply. Throws 409 when another manager owns a field that would change, unless forced. */
export function apply(
  live: KubeObject | undefined,
  config: KubeObject,
  schema: Schema,
  writer: Writer,
  hasStatus: boolean,
  force: boolean
): KubeObject {
  const scoped = withinScope(config, writer.subresource, hasStatus)
  const why = misfit(scoped, schema)
  if (why)
    throw internal(
      `failed to create typed patch object (${config.metadata.namespace ?? ''}/${config.metadata.name}; ${config.apiVersion}, Kind=${config.kind}): ${why}`
    )
  const entries = readEntries(live)
  const before = entries.find(entry => isOwn(entry, writer, 'Apply'))
  const others = entries.filter(entry => !isOwn(entry, writer, 'Apply'))
  const set = without(claimed(scoped, schema), [...unowned, ...resetBy(writer.subresource, hasStatus)])
  const current = bare(live)
  const merged = withoutReleased(merge(current, scoped, schema), schema, before, set, others)
  const compared = compare(current ?? {}, merged, schema)
  if (!force) refuseConflicts(others, compared.changed)
  const kept = keep(others, compared)
  return withEntries(merged as KubeObject, [...kept, ownEntry(before, writer, 'Apply', set)])
}

/** The time of an entry is when it last became another one. */
function ownEntry(before: Entry | undefined, writer: Writer, operation: Entry['operation'], set: FieldSet): Entry {
  const isSame = before !== undefined && before.apiVersion === writer.apiVersion && sameSet(before.set, set)
  return isSame ? before : { ...writer, operation, set, ...(before && sameSet(before.set, set) && { time: before.time }) }
}

/** Who names all that it named before gives nothing up. */
function withoutReleased(merged: unknown, schema: Schema, before: Entry | undefined, set: FieldSet, others: Entry[]): unknown {
  if (!before || sameSet(before.set, set)) return merged
  const claims = others.reduce((all, entry) => union(all, entry.set), set)
  return release(merged, schema, before.set, claims)
}

/** What the endpoint would reset anyway is not looked at, as if it had not been sent. */
function withinScope(config: KubeObject, subresource: string, hasStatus: boolean): KubeObject {
  if (subresource !== 'status') return hasStatus ? omit(config, 'status') : config
  const { apiVersion, kind, metadata, status } = config
  const { name, namespace, resourceVersion } = metadata
  // the version is not set but compared
  const kept = { name, ...(namespace && { namespace }), ...(resourceVersion && { resourceVersion }) }
  return { apiVersion, kind, metadata: kept, ...(status !== undefined && { status }) }
}

function refuseConflicts(others: Entry[], changed: FieldSet): void {
  const conflicts = others
    .map(entry => ({ who: describe(entry), fields: paths(intersection(entry.set, changed)) }))
    .filter(({ fields }) => fields.length > 0)
  const total = conflicts.reduce((sum, { fields }) => sum + fields.length, 0)
  if (total === 0) return
  const causes = conflicts.flatMap(({ who, fields }) =>
    fields.map(field => ({ reason: 'FieldManagerConflict', message: `conflict with ${who}`, field }))
  )
  const lines = conflicts.map(({ who, fields }) =>
    total === 1 ? `conflict with ${who}: ${fields[0]}` : `conflicts with ${who}:\n${fields.map(field => `- ${field}`).join('\n')}`
  )
  throw new ApiError(409, 'Conflict', `Apply failed with ${total} conflict${total === 1 ? '' : 's'}: ${lines.join('\n')}`, {
    causes
  })
}

function describe({ manager, subresource, operation, apiVersion }: Entry): string {
  const through = subresource ? ` with subresource "${subresource}"` : ''
  return `"${manager}"${through}${operation === 'Apply' ? '' : ` using ${apiVersion}`}`
}
