// The value side of server-side apply: lay an applied configuration over the live object, then take out what its manager gave up.
// Whatever stays as it is stays the very same value: nothing after this looks at it again.
import type { FieldSet } from './field-set.ts'
import { isFields, same, type Fields } from './object.ts'
import { childOf, type Schema } from './schema.ts'
import { fieldElement, itemElement, itemSchema, shapeOf } from './typed.ts'

export function merge(live: unknown, applied: unknown, schema: Schema): unknown {
  if (applied === undefined) return live
  const shape = shapeOf(applied, schema)
  if (live === undefined || shape === 'leaf' || shapeOf(live, schema) !== shape) return same(live, applied) ? live : applied
  if (shape === 'list') return unlessSame(live as unknown[], mergeList(live as unknown[], applied as unknown[], schema))
  const result: Fields = { ...(live as Fields) }
  let changed = false
  for (const [key, value] of Object.entries(applied as Fields)) {
    const merged = merge(result[key], value, childOf(schema, key).schema)
    if (merged === result[key] && Object.hasOwn(result, key)) continue
    result[key] = merged
    changed = true
  }
  return changed ? result : live
}

const unlessSame = (before: unknown[], after: unknown[]): unknown[] =>
  before.length === after.length && after.every((item, at) => item === before[at]) ? before : after

// The applied order wins for the items it names; items that only the live list has keep their place before the next shared one.
function mergeList(live: unknown[], applied: unknown[], schema: Schema): unknown[] {
  const liveNames = live.map(item => itemElement(schema, item))
  const appliedNames = applied.map(item => itemElement(schema, item))
  const liveItems = new Map(live.map((item, i) => [liveNames[i], item]))
  const inApplied = new Set(appliedNames)
  const shared = appliedNames.filter(name => liveItems.has(name))
  const result: unknown[] = []
  let [l, r, s] = [0, 0, 0]
  while (l < live.length || r < applied.length) {
    const [left, right] = [liveNames[l], appliedNames[r]]
    const isShared = left !== undefined && inApplied.has(left)
    if (left !== undefined && !isShared) {
      result.push(live[l++])
    } else if (isShared && left !== right && (right === undefined || (shared[s] !== undefined && shared[s] !== left))) {
      l++ // its turn comes, or came, at another place of the applied order
    } else {
      result.push(merge(liveItems.get(right), applied[r++], itemSchema(schema)))
      if (left === right) l++
      if (shared[s] === right) s++
    }
  }
  return result
}

/** Takes out what `last` had claimed and nobody in `kept` claims now; a container that becomes empty by it goes too. */
export function release(value: unknown, schema: Schema, last: FieldSet, kept: FieldSet | undefined): unknown {
  const shape = shapeOf(value, schema)
  if (shape === 'leaf') return value
  if (shape === 'map') {
    const result: Fields = { ...(value as Fields) }
    let changed = false
    for (const [key, below] of Object.entries(value as Fields)) {
      const element = fieldElement(key)
      const left = releaseOne(below, childOf(schema, key).schema, last.children.get(element), kept?.children.get(element))
      if (left === below) continue
      if (left === undefined) delete result[key]
      else result[key] = left
      changed = true
    }
    return changed ? result : value
  }
  const items = (value as unknown[]).flatMap(item => {
    const element = itemElement(schema, item)
    const left = releaseOne(item, itemSchema(schema), last.children.get(element), kept?.children.get(element))
    return left === undefined ? [] : [left]
  })
  return unlessSame(value as unknown[], items)
}

function releaseOne(value: unknown, schema: Schema, last: FieldSet | undefined, kept: FieldSet | undefined): unknown {
  if (!last) return value
  if (last.member && !kept) return undefined
  const left = release(value, schema, last, kept)
  return !kept && isNothing(left) && !isNothing(value) ? undefined : left
}

const isNothing = (value: unknown): boolean =>
  Array.isArray(value) ? value.length === 0 : isFields(value) && Object.keys(value).length === 0
