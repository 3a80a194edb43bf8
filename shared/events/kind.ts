import { Type, type Static, type TSchema } from 'typebox'

/** One row of the table of events: what it is called, what it carries, who says it and who listens. */
export interface EventKind<S extends TSchema = TSchema> {
  readonly type: string
  readonly data: S
  /** The form of the `source` attribute. */
  readonly source: string
  readonly emittedBy: string
  readonly reactedBy: readonly string[]
  readonly summary: string
}

/** Which parts of an object differ from what was told before (attribute `changed`, a comma list). */
export const changes = ['created', 'labels', 'annotations', 'spec', 'conditions', 'status', 'deleting'] as const
export type Change = (typeof changes)[number]

/** An event as a function sees it: decoded and validated, attributes as plain values. */
export interface Received<D = unknown> {
  id: string
  type: string
  source: string
  subject?: string
  time?: string
  data: D
  /** Absent: the sender cannot say, so anything may have changed. */
  changed?: Change[]
  partitionkey?: string
  sequence?: string
  traceparent?: string
  extensions: Record<string, string>
}

export const ObjectRef = Type.Object({
  apiVersion: Type.String({ minLength: 1 }),
  kind: Type.String({ minLength: 1 }),
  name: Type.String({ minLength: 1 }),
  namespace: Type.Optional(Type.String()),
  uid: Type.Optional(Type.String()),
  resourceVersion: Type.Optional(Type.String())
})
export type ObjectRef = Static<typeof ObjectRef>

export const event = <S extends TSchema>(kind: EventKind<S>): EventKind<S> => Object.freeze(kind)

/** Not in the table: whatever a function has no other reaction to. For those that record; its data is anything. */
export const anyEvent = event({
  type: '*',
  data: Type.Unknown(),
  source: '',
  emittedBy: '',
  reactedBy: ['dead-letters'],
  summary: 'any event'
})
