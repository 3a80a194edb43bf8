import { hash } from 'node:crypto'
import type { KubeObject } from '../../shared/schema/kind.ts'
import type { Change } from '../../shared/events/kind.ts'

/** A short print of each part of an object: enough to say which part differs, small enough to keep for every object. */
export type Digest = Readonly<Record<Exclude<Change, 'created'>, string>>

interface Seen extends KubeObject {
  spec?: unknown
  status?: { conditions?: Array<Record<string, unknown>> }
  [part: string]: unknown
}

const print = (value: unknown): string => (value === undefined ? '' : hash('sha1', JSON.stringify(value), 'base64').slice(0, 16))

/** Times of a condition move with every heartbeat; what it says is the rest. */
const said = ({ type, status, reason, message }: Record<string, unknown>) => [type, status, reason, message]

export function digest(object: KubeObject, volatile: readonly string[]): Digest {
  const { metadata = {}, spec, status, apiVersion: _apiVersion, kind: _kind, ...rest } = object as Seen
  const { conditions, ...facts } = status ?? {}
  const steady = Object.entries(facts).filter(([name]) => !volatile.includes(name))
  return {
    labels: print(metadata.labels),
    annotations: print(metadata.annotations),
    spec: print([spec, rest]), // kinds without a spec keep their content at the top
    conditions: print(conditions?.map(said)),
    status: print(steady),
    deleting: metadata.deletionTimestamp === undefined ? '' : 'yes'
  }
}

const parts = ['labels', 'annotations', 'spec', 'conditions', 'status', 'deleting'] as const

/** Which parts a reader has not been told of. Of a new object everything is new, so that no reader has to know of `created`. */
export function difference(before: Digest | undefined, after: Digest): Change[] {
  if (before === undefined) return ['created', ...parts.filter(part => part !== 'deleting' || after.deleting !== '')]
  return parts.filter(part => before[part] !== after[part])
}
