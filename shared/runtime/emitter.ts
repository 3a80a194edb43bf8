import { hash, randomUUID } from 'node:crypto'
import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { CloudEvent, HTTP } from 'cloudevents'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Static, TSchema } from 'typebox'
import type { EventKind } from '../events/kind.ts'
import { emittedTotal } from './metrics.ts'
import { retry, type RetryOptions, type RetryPolicy } from './retry.ts'

export interface Outgoing<S extends TSchema = TSchema> {
  kind: EventKind<S>
  data: Static<S>
  subject?: string | undefined
  partitionkey?: string | undefined
  sequence?: string | undefined
  /** Given by a sender that may send again after a restart; left out, a new one. */
  id?: string
  time?: string
  extensions?: Readonly<Record<string, string>>
  /** Of the event on whose behalf this one is sent; left out, a trace begins here. */
  traceparent?: string | undefined
}

export type Emit = <S extends TSchema>(event: Outgoing<S>) => Promise<void>

export type EmitErrorCode = 'no-sink' | 'unreachable' | 'timeout' | 'refused' | 'unavailable'

export class EmitError extends Error {
  override name = 'EmitError'
  readonly code: EmitErrorCode
  readonly retryable: boolean
  /** What the broker answered, if it did. */
  readonly status: number | undefined
  constructor(code: EmitErrorCode, message: string, { cause, status }: { cause?: unknown; status?: number } = {}) {
    super(message, { cause })
    this.code = code
    this.status = status
    this.retryable = code === 'unreachable' || code === 'timeout' || code === 'unavailable'
  }
}

export interface EmitterOptions extends Pick<RetryOptions, 'signal' | 'delay' | 'random'> {
  /** The broker's address (`K_SINK`). Without one, the first event fails and says so. */
  sink?: string | undefined
  source: string
  /**
   * For one try. The in-memory broker answers only when all Triggers are done, retries included, and drops the event
   * when its sender hangs up before: this must be longer than the longest retry schedule.
   */
  timeoutMs?: number
  retry?: RetryPolicy
  log?: Logger
  metrics?: Registry
}

const fewTries: RetryPolicy = { attempts: 5, minDelayMs: 200, maxDelayMs: 5000 }

export function emitter(options: EmitterOptions): Emit {
  const { sink, source, timeoutMs = 120_000, retry: policy = fewTries, log, metrics, signal, delay, random } = options
  const post = sink === undefined ? noSink : poster(new URL(sink), timeoutMs, signal)
  const total = metrics && emittedTotal(metrics)

  return async event => {
    const message = encode(event, source)
    const { type } = event.kind
    try {
      await retry(policy, () => post(message), {
        onRetry(err, attempt, delayMs) {
          log?.warn({ err, id: message.headers['ce-id'], type, attempt, delayMs }, 'event not delivered, trying again')
          total?.inc({ type, outcome: 'retried' })
        },
        ...(signal && { signal }),
        ...(delay && { delay }),
        ...(random && { random })
      })
    } catch (error) {
      total?.inc({ type, outcome: 'failed' })
      throw error
    }
    total?.inc({ type, outcome: 'sent' })
  }
}

interface Message {
  headers: Record<string, string>
  body: string
}

type Post = (message: Message) => Promise<void>

const noSink: Post = () => Promise.reject(new EmitError('no-sink', 'no address to send events to: K_SINK is not set'))

/** Binary mode. The id is made here, once, so that every try of an event bears the same. */
export function encode(event: Outgoing, source: string): Message {
  const { kind, data, id = randomUUID(), time = new Date().toISOString(), extensions, ...given } = event
  const attributes = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const traceparent = event.traceparent ?? traceOf(source, id)
  const { headers } = HTTP.binary(
    new CloudEvent({
      ...extensions,
      ...attributes,
      traceparent,
      trace: traceparent, // the RabbitMQ broker class keeps `traceparent` for itself
      id,
      time,
      type: kind.type,
      source,
      datacontenttype: 'application/json',
      data
    })
  )
  const texts = Object.entries(headers).map(([name, value]) => [
    name,
    name.startsWith('ce-') ? headerValue(String(value)) : String(value)
  ])
  return { headers: Object.fromEntries(texts), body: JSON.stringify(data) ?? '' }
}

/** The trace that begins with an event. Made of its id: sent again, by whichever process, it is the same trace. */
export function traceOf(source: string, id: string): string {
  const digest = hash('sha256', `${source} ${id}`)
  return `00-${digest.slice(0, 32)}-${digest.slice(32, 48)}-01`
}

/** HTTP binding §3.1.3.2, which the SDK leaves out: blanks, quotes, per cent signs and all but plain ASCII are escaped. */
const headerValue = (value: string): string => value.toWellFormed().replace(/[^\x21\x23\x24\x26-\x7e]+/gu, encodeURIComponent)

function poster(url: URL, timeoutMs: number, stop?: AbortSignal): Post {
  const secure = url.protocol === 'https:'
  const request = secure ? httpsRequest : httpRequest
  const agent = secure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true })

  return ({ headers, body }) =>
    new Promise((resolve, reject) => {
      const timeout = AbortSignal.timeout(timeoutMs)
      const signal = stop ? AbortSignal.any([timeout, stop]) : timeout
      const fail = (error: Error): void =>
        reject(
          timeout.aborted
            ? new EmitError('timeout', `no answer from the broker within ${timeoutMs} ms`, { cause: error })
            : new EmitError('unreachable', `the broker cannot be reached: ${error.message}`, { cause: error })
        )
      const length = String(Buffer.byteLength(body))
      request(url, { method: 'POST', agent, signal, headers: { ...headers, 'content-length': length } }, response => {
        // The body tells nothing that the status does not, but a connection is free again only when it is read.
        response.on('error', fail).on('end', () => settle(response.statusCode ?? 0, resolve, reject))
        response.resume()
      })
        .on('error', fail)
        .end(body)
    })
}

function settle(status: number, resolve: () => void, reject: (error: EmitError) => void): void {
  if (status >= 200 && status < 300) return resolve()
  const passing = status >= 500 || status === 429 || status === 408
  return reject(new EmitError(passing ? 'unavailable' : 'refused', `the broker answered ${status}`, { status }))
}
