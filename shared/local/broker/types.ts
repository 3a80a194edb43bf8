// What passes between the broker and those around it.
import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from './clock.ts'

/** Lower-case names, as node:http gives them. */
export type Headers = Record<string, string>

export interface Request {
  path: string
  headers: Headers
  body: Buffer
}

export interface Answer {
  status: number
  headers?: Headers
  body?: Buffer | string
}

export type Deliver = (request: Request, signal: AbortSignal) => Promise<Answer>

/** Who takes a request: a server, or a function in this process. */
export type Sink = { url: string } | { deliver: Deliver }

/** Whom a manifest names. */
export type Ref = { kind: string; name: string; namespace: string } | { uri: string }

/** A parsed YAML document and the file it came from, for messages. */
export interface Manifest {
  file: string
  doc: unknown
}

/** pino's, or anything alike. */
export interface Log {
  debug: (about: object, message: string) => void
  info: (about: object, message: string) => void
  warn: (about: object, message: string) => void
  error: (about: object, message: string) => void
}

export interface Limits {
  /** Requests under way at once, for each trigger. Waiting for a retry does not count. */
  inFlight: number
  /** Events held for one trigger; the ingress answers 429 to an event for a trigger that has as many. */
  queue: number
  /** Data of all held events together, in bytes. */
  bytes: number
  /** Dead letters kept; beyond it the oldest go first. */
  deadLetters: number
}

/** One finished delivery, for the line that `npm start` prints. */
export interface Delivered {
  trigger: string
  subscriber: string
  type: string
  id: string
  outcome: 'done' | 'replied' | 'dead-lettered'
  attempts: number
  ms: number
}

export interface BrokerOptions {
  manifests: Manifest[]
  /** Who answers for a subscriber; undefined when nobody does: the Trigger is then not ready, as in Knative. */
  resolve: (ref: Ref) => Sink | undefined
  /** For documents that name no namespace. */
  namespace?: string
  port?: number
  /** With it, an event answered 202 outlives the process. The opener chooses the pragmas (WAL, synchronous). */
  state?: DatabaseSync
  clock?: Clock
  /** 0 to 1, for the delay of ticks. */
  random?: () => number
  log?: Log
  limits?: Partial<Limits>
  observe?: (delivered: Delivered) => void
}
