// Which fields differ between two versions of an object: what ownership and conflicts are decided from.
import { child, dense, emptySet, type FieldSet } from './field-set.ts'
import { isFields, same, type Fields } from './object.ts'
import { childOf, type Schema } from './schema.ts'
import { fieldElement, itemElement, itemSchema, shapeOf } from './typed.ts'

export interface Comparison {
  /** Added or given another value. */
  changed: FieldSet
  removed: FieldSet
}

export function compare(before: unknown, after: unknown, schema: Schema): Comparison {
  const result = { changed: emptySet(), removed: emptySet() }
  walk(before, after, schema, result)
  return { changed: dense(result.changed), removed: dense(result.removed) }
}

function walk(before: unknown, after: unknown, schema: Schema, into: Comparison): void {
  if (before === after) return
  const shape = commonShape(before, after, schema)
  if (shape === 'leaf') {
    if (before !== undefined && after !== undefined && same(before, after)) return
  } else if (shape === 'map') {
    const [left, right] = [before ?? {}, after ?? {}] as [Fields, Fields]
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)]))
      walk(left[key], right[key], childOf(schema, key).schema, below(into, fieldElement(key)))
  } else {
    const [left, right] = [byElement(before, schema), byElement(after, schema)]
    for (const element of new Set([...left.keys(), ...right.keys()]))
      walk(left.get(element), right.get(element), itemSchema(schema), below(into, element))
  }
  // A container that came or went is told as itself too, not only by what is in it.
  if (after === undefined) into.removed.member = true
  else if (before === undefined || shape === 'leaf') into.changed.member = true
}

const below = (into: Comparison, element: string): Comparison => ({
  changed: child(into.changed, element),
  removed: child(into.removed, element)
})

const isNothing = (value: unknown): boolean =>
  value === undefined || (Array.isArray(value) ? value.length === 0 : isFields(value) && Object.keys(value).length === 0)

// Two empty containers count as a leaf, which keeps the difference between absent and empty.
function commonShape(before: unknown, after: unknown, schema: Schema): 'leaf' | 'map' | 'list' {
  if (isNothing(before) && isNothing(after)) return 'leaf'
  const [left, right] = [before ?? after, after ?? before].map(value => shapeOf(value, schema))
  return left === right && left !== undefined ? left : 'leaf'
}

const byElement = (list: unknown, schema: Schema): Map<string, unknown> =>
  new Map(Array.isArray(list) ? list.map(item => [itemElement(schema, item), item]) : [])
