// A set of field paths, as managedFields keeps it (FieldsV1): a tree whose nodes say whether the path up to them is a member.
// Path elements are written as on the wire: f:name, k:{"key":"of item"}, v:"value".
import { fieldsOf, type Fields } from './object.ts'

export interface FieldSet {
  member: boolean
  children: Map<string, FieldSet>
}

export const emptySet = (): FieldSet => ({ member: false, children: new Map() })

export function child(set: FieldSet, element: string): FieldSet {
  let found = set.children.get(element)
  if (!found) set.children.set(element, (found = emptySet()))
  return found
}

export function fromFieldsV1(tree: Fields): FieldSet {
  const set = emptySet()
  for (const [element, below] of Object.entries(tree)) {
    if (element === '.') set.member = true
    else {
      const branch = fromFieldsV1(fieldsOf(below))
      if (branch.children.size === 0) branch.member = true
      set.children.set(element, branch)
    }
  }
  return set
}

export function toFieldsV1(set: FieldSet): Fields {
  const tree: Fields = {}
  if (set.member && set.children.size > 0) tree['.'] = {}
  for (const element of [...set.children.keys()].sort()) {
    const below = set.children.get(element)
    if (below) tree[element] = toFieldsV1(below)
  }
  return tree
}

export const isEmpty = (set: FieldSet): boolean => !set.member && [...set.children.values()].every(isEmpty)

/** Takes out the branches that hold no member. */
export function dense(set: FieldSet): FieldSet {
  for (const [element, below] of set.children) if (isEmpty(dense(below))) set.children.delete(element)
  return set
}

/** Whether a tree as it is on the wire has one of the members of a set: asked of every manager with every write, and answered without reading the tree. */
export function hasAny(tree: Fields, { member, children }: FieldSet, isRoot = true): boolean {
  if (member && ('.' in tree || (!isRoot && Object.keys(tree).length === 0))) return true
  for (const [element, below] of children) {
    const branch = tree[element]
    if (branch !== undefined && hasAny(fieldsOf(branch), below, false)) return true
  }
  return false
}

// Where only one of the two has a branch, it is taken or left as a whole: what is large and unchanged is not walked through.
export const union = (a: FieldSet, b: FieldSet): FieldSet => {
  const children = new Map(a.children)
  for (const [element, below] of b.children) {
    const other = children.get(element)
    children.set(element, other ? union(other, below) : below)
  }
  return { member: a.member || b.member, children }
}

export const difference = (a: FieldSet, b: FieldSet): FieldSet => {
  const children = new Map(a.children)
  for (const [element, below] of b.children) {
    const own = children.get(element)
    if (!own) continue
    const left = difference(own, below)
    if (left.member || left.children.size > 0) children.set(element, left)
    else children.delete(element)
  }
  return { member: a.member && !b.member, children }
}

export const intersection = (a: FieldSet, b: FieldSet): FieldSet => {
  const children = new Map<string, FieldSet>()
  for (const [element, below] of b.children) {
    const own = a.children.get(element)
    const both = own && intersection(own, below)
    if (both && (both.member || both.children.size > 0)) children.set(element, both)
  }
  return { member: a.member && b.member, children }
}

export function sameSet(a: FieldSet, b: FieldSet): boolean {
  if (a.member !== b.member || a.children.size !== b.children.size) return false
  for (const [element, below] of a.children) {
    const other = b.children.get(element)
    if (!other || !sameSet(below, other)) return false
  }
  return true
}

/** Leaves out whole branches, named by their path from the root. */
export function without(set: FieldSet, paths: string[][]): FieldSet {
  let result = set
  for (const path of paths) result = cut(result, path)
  return result
}

function cut(set: FieldSet, [first, ...rest]: string[]): FieldSet {
  const below = first === undefined ? undefined : set.children.get(first)
  if (first === undefined || !below) return set
  const children = new Map(set.children)
  const left = rest.length === 0 ? emptySet() : cut(below, rest)
  if (isEmpty(left)) children.delete(first)
  else children.set(first, left)
  return { member: set.member, children }
}

/** The members as the real server prints them: `.spec.ports[port=1,protocol="TCP"].name`. */
export function paths(set: FieldSet, prefix = ''): string[] {
  const found = set.member ? [prefix] : []
  for (const element of [...set.children.keys()].sort()) {
    const below = set.children.get(element)
    if (below) found.push(...paths(below, prefix + printed(element)))
  }
  return found
}

function printed(element: string): string {
  const text = element.slice(2)
  if (element.startsWith('f:')) return `.${text}`
  if (element.startsWith('v:')) return `[=${text}]`
  const key: unknown = JSON.parse(text)
  return printedKey(fieldsOf(key))
}

export const printedKey = (key: Fields): string =>
  `[${Object.entries(key)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(',')}]`
