// FieldsV1 (structured-merge-diff, fieldpath): who owns which fields, as a tree of members. Pure.
//   f:name  a field    k:{"type":"Ready"}  an item of a list-map, by its keys    v:"x"  an item of a set    .  the thing itself
// A member without members is a leaf: a scalar, an empty thing, or one that is owned as a whole (atomic).
export interface Fields {
  [member: string]: Fields
}

type Item = Record<string, unknown>

export const isItem = (value: unknown): value is Item => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The members below a node, the thing itself left out. */
export const membersOf = (fields: Fields): string[] => Object.keys(fields).filter(member => member !== '.')

/** Each part of a value with the member that stands for it among `fields`, if there is one. */
export function partsOf(value: unknown, fields: Fields): Array<[member: string | undefined, part: unknown]> {
  if (Array.isArray(value)) {
    const memberOf = finder(fields)
    return value.map(part => [memberOf(part), part])
  }
  if (!isItem(value)) return []
  return Object.entries(value).map(([name, part]) => [Object.hasOwn(fields, `f:${name}`) ? `f:${name}` : undefined, part])
}

/** Where in a list the item of each `k:` or `v:` member is. */
export function placesOf(list: readonly unknown[], fields: Fields): Map<string, number> {
  const memberOf = finder(fields)
  const places = new Map<string, number>()
  for (const [at, item] of list.entries()) {
    const member = memberOf(item)
    if (member !== undefined && !places.has(member)) places.set(member, at)
  }
  return places
}

/** Which member stands for an item. A host has two hundred instances, so that each member is read once and not once for each item. */
function finder(fields: Fields): (item: unknown) => string | undefined {
  const byValue = new Map<string, string>()
  const byKeys = new Map<string, { names: string[]; members: Map<string, string> }>()
  for (const member of membersOf(fields)) {
    if (member.startsWith('v:')) byValue.set(print(JSON.parse(member.slice(2))), member)
    if (!member.startsWith('k:')) continue
    const keys = JSON.parse(member.slice(2)) as Item
    const names = Object.keys(keys).sort()
    const group = byKeys.get(names.join()) ?? { names, members: new Map<string, string>() }
    byKeys.set(names.join(), group)
    group.members.set(print(names.map(name => keys[name])), member)
  }
  return item => {
    const whole = byValue.size > 0 ? byValue.get(print(item)) : undefined
    if (whole !== undefined || !isItem(item)) return whole
    for (const { names, members } of byKeys.values()) {
      const found = members.get(print(names.map(name => item[name])))
      if (found !== undefined) return found
    }
    return undefined
  }
}

/** The same for equal values, whatever the order of their fields. */
const print = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    isItem(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part
  ) ?? ''

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
