// FieldsV1 (structured-merge-diff, fieldpath): who owns which fields, as a tree of members. Pure.
//   f:name  a field    k:{"type":"Ready"}  an item of a list-map, by its keys    v:"x"  an item of a set    .  the thing itself
// A member without members is a leaf: a scalar, an empty thing, or one that is owned as a whole (atomic).
import { isDeepStrictEqual } from 'node:util'

export interface Fields {
  [member: string]: Fields
}

type Item = Record<string, unknown>

export const isItem = (value: unknown): value is Item => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The members below a node, the thing itself left out. */
export const membersOf = (fields: Fields): string[] => Object.keys(fields).filter(member => member !== '.')

/** Each part of a value with the member that stands for it among `fields`, if there is one. */
export function partsOf(value: unknown, fields: Fields): Array<[member: string | undefined, part: unknown]> {
  if (Array.isArray(value)) return value.map(part => [membersOf(fields).find(member => isMember(member, part)), part])
  if (!isItem(value)) return []
  return Object.entries(value).map(([name, part]) => [Object.hasOwn(fields, `f:${name}`) ? `f:${name}` : undefined, part])
}

/** Where in a list the item of a `k:` or `v:` member is. */
export const indexOfMember = (list: unknown[], member: string): number => list.findIndex(item => isMember(member, item))

function isMember(member: string, item: unknown): boolean {
  if (member.startsWith('v:')) return isDeepStrictEqual(JSON.parse(member.slice(2)), item)
  if (!member.startsWith('k:') || !isItem(item)) return false
  const keys = JSON.parse(member.slice(2)) as Item
  return Object.entries(keys).every(([name, value]) => isDeepStrictEqual(item[name], value))
}

/** What of `fields` a value names. */
export function namedBy(value: unknown, fields: Fields): Fields | undefined {
  if (membersOf(fields).length === 0) return fields
  const named: Fields = {}
  for (const [member, part] of partsOf(value, fields)) {
    const below = member === undefined ? undefined : namedBy(part, fields[member]!)
    if (below) named[member!] = below
  }
  return membersOf(named).length === 0 ? undefined : named
}

/** What both own. */
export function common(one: Fields, other: Fields): Fields | undefined {
  if (membersOf(one).length === 0) return membersOf(other).length === 0 ? one : undefined
  const both: Fields = {}
  for (const member of membersOf(one)) {
    const below = other[member] && common(one[member]!, other[member])
    if (below) both[member] = below
  }
  return membersOf(both).length === 0 ? undefined : both
}

/** `fields` less `some` of them; a thing of which no part is left goes too. */
export function without(fields: Fields, some: Fields): Fields | undefined {
  const rest = { ...fields }
  for (const member of membersOf(some)) {
    const below = membersOf(some[member]!).length === 0 ? undefined : without(fields[member]!, some[member]!)
    if (below) rest[member] = below
    else delete rest[member]
  }
  return membersOf(rest).length === 0 ? undefined : rest
}

export function union(one: Fields, other: Fields): Fields {
  const both: Fields = { ...one }
  for (const [member, fields] of Object.entries(other)) both[member] = union(both[member] ?? {}, fields)
  return both
}
