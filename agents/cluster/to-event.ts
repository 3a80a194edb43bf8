import type { ObjectRef } from '../../shared/events/kind.ts'
import { objectType } from '../../shared/events/objects.ts'
import type { Change } from '../../shared/events/kind.ts'
import { apiVersion } from '../../shared/schema/kind.ts'
import type { Fact } from './watch.ts'

/** What is to be told of one object; a later message about the same object takes the place of an earlier one that was not yet sent. */
export interface Message {
  id: string
  type: string
  subject: string
  partitionkey: string
  sequence: string
  changed: Change[]
  data: ObjectRef & { last?: object }
}

export const keyOf = ({ watched: { kind }, object: { metadata = {} } }: Fact): string =>
  `${kind.group}/${kind.kind}/${metadata.namespace ?? ''}/${metadata.name}`

export function toEvent(fact: Fact): Message {
  const { watched, object, owner } = fact
  const { group, kind } = watched.kind
  const { name = '', namespace, uid = '', resourceVersion = '' } = object.metadata ?? {}
  const gone = fact.type === 'deleted'
  const last = gone && fact.last ? { last: fact.last } : {}
  return {
    id: `${uid}/${gone ? 'deleted' : resourceVersion}`, // the same state told twice, by whichever replica, is the same event
    type: objectType(group, kind, fact.type),
    subject: namespace ? `${namespace}/${name}` : name,
    partitionkey: owner || name,
    sequence: resourceVersion,
    changed: gone ? [] : fact.changed,
    data: { apiVersion: apiVersion(watched.kind), kind, name, ...(namespace && { namespace }), uid, resourceVersion, ...last }
  }
}

/** Nobody was told of `older`, so what it said counts still, unless the object has gone or come anew since. */
export function merge(older: Message, newer: Message): Message {
  if (older.type !== newer.type || older.data.uid !== newer.data.uid) return newer
  return { ...newer, changed: [...new Set([...older.changed, ...newer.changed])] }
}
