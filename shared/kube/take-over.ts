import type { KubeObject, ManagedFields } from '../schema/kind.ts'
import type { Fields } from './fields.ts'
import { common, namedBy, union, without } from './fields.ts'
import { appliedBy, ownableValues, ownedFields } from './unchanged.ts'

/**
 * The owners of an object after earlier writers by create, update or patch have handed over what the manager applies (HV-5); undefined when there is
 * nothing to hand over. They would own it beside us for ever, and a field that we leave out later would stay. It has to be handed over and not just
 * removed: an object without any owner is given a new one, `before-first-apply`, by the next apply. Such an heir, made at our first apply of an object
 * that had no owners, holds what we already applied, so that is taken too.
 */
export function takeOver(
  live: KubeObject,
  wanted: KubeObject,
  manager: string,
  subresource: string | undefined,
  time: string
): ManagedFields[] | undefined {
  const apiVersion = wanted.apiVersion ?? ''
  let values: ReturnType<typeof ownableValues> | undefined // most objects have nobody to take from
  const own = appliedBy(live, manager, subresource)
  let fieldsV1 = ownedFields(own)
  let changed = false
  const others = (live.metadata?.managedFields ?? []).flatMap(entry => {
    if (entry === own) return []
    if (entry.operation !== 'Update' || entry.apiVersion !== apiVersion) return [entry]
    const named = namedBy((values ??= ownableValues(wanted)), ownedFields(entry))
    const shared: Fields = union(named ?? {}, common(ownedFields(entry), ownedFields(own)) ?? {})
    if (Object.keys(shared).length === 0) return [entry]
    changed = true
    fieldsV1 = union(fieldsV1, shared)
    const rest = without(ownedFields(entry), shared)
    return rest ? [{ ...entry, fieldsV1: rest }] : []
  })
  if (!changed) return undefined
  const entry = { manager, operation: 'Apply', apiVersion, time, fieldsType: 'FieldsV1', fieldsV1 }
  return [...others, subresource === undefined ? entry : { ...entry, subresource }]
}
