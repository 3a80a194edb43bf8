// Whether a server-side apply would change nothing, judged from the object as it was read (HV-7). Pure.
// It errs on the side of "changed": the server then finds out that nothing was, and writes nothing either.
import { isDeepStrictEqual } from 'node:util'
import type { KubeObject, ManagedFields } from '../schema/kind.ts'
import type { Fields } from './fields.ts'
import { isItem, membersOf, partsOf, placesOf } from './fields.ts'

/** True when every wanted value is there and the manager's last apply named exactly the wanted fields. */
export function unchanged(live: KubeObject, wanted: KubeObject, manager: string, subresource?: string): boolean {
  const { uid = live.metadata?.uid, resourceVersion = live.metadata?.resourceVersion } = wanted.metadata ?? {}
  if (uid !== live.metadata?.uid || resourceVersion !== live.metadata?.resourceVersion) return false
  const own = appliedBy(live, manager, subresource)
  if (own && own.apiVersion !== (wanted.apiVersion ?? live.apiVersion)) return false
  const fields = ownedFields(own)
  const values = ownableValues(wanted)
  // at the root no members means nothing owned, and not a leaf
  return membersOf(fields).length === 0 ? Object.keys(values).length === 0 : isSame(live, values, fields)
}

/** The entry that the manager's earlier applies left. */
export function appliedBy(live: KubeObject, manager: string, subresource?: string): ManagedFields | undefined {
  return live.metadata?.managedFields?.find(
    entry => entry.manager === manager && entry.operation === 'Apply' && (entry.subresource || undefined) === subresource
  )
}

export const ownedFields = (entry: ManagedFields | undefined): Fields => (entry?.fieldsV1 ?? {}) as Fields

/** What of an object can have an owner: not its identity, and not what the server keeps by itself. */
export function ownableValues(wanted: KubeObject): Record<string, unknown> {
  const { apiVersion: _version, kind: _kind, metadata, ...values } = JSON.parse(JSON.stringify(wanted)) as KubeObject
  const { labels, annotations, finalizers, ownerReferences } = metadata ?? {}
  const ownable = JSON.parse(JSON.stringify({ labels, annotations, finalizers, ownerReferences })) as object
  return Object.keys(ownable).length === 0 ? values : { ...values, metadata: ownable }
}

function isSame(live: unknown, wanted: unknown, fields: Fields): boolean {
  const members = membersOf(fields)
  if (members.length === 0) return isDeepStrictEqual(live, wanted)
  const parts = partsOf(wanted, fields)
  const named = new Set(parts.map(([member]) => member))
  if (parts.length !== members.length || named.size !== members.length || named.has(undefined)) return false
  return Array.isArray(wanted) ? hasItems(live, parts, fields) : hasFields(live, parts, fields)
}

type Parts = ReturnType<typeof partsOf>

/** What is small is compared first: if anything differs it is most often a time or a condition, and not one of two hundred instances. */
function hasFields(live: unknown, parts: Parts, fields: Fields): boolean {
  if (!isItem(live)) return false
  const sized = parts.map(([member, part]) => ({ member: member!, part, size: Object.keys(fields[member!]!).length }))
  return sized.sort((a, b) => a.size - b.size).every(({ member, part }) => isSame(live[member.slice(2)], part, fields[member]!))
}

/** Items of others may stand between ours, but ours must stand in the wanted order: an apply would put them so. */
function hasItems(live: unknown, parts: Parts, fields: Fields): boolean {
  if (!Array.isArray(live)) return false
  const places = placesOf(live, fields)
  let last = -1
  for (const [member, part] of parts) {
    const index = places.get(member!) ?? -1
    if (index <= last || !isSame(live[index], part, fields[member!]!)) return false
    last = index
  }
  return true
}
