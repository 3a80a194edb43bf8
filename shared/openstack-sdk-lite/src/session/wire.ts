// One attempt: within the endpoint's rate, past its breaker, over the transport, told to whoever listens.
import { type Answer, type Call, isRead, label, type Service, type Version } from '../call.ts'
import { OpenStackError } from '../error.ts'
import { type Breaker, type BreakerPolicy, createBreaker } from './breaker.ts'
import type { Clock } from './clock.ts'
import { fromAnswer, requestIdOf } from './fault.ts'
import { createRateLimit, type RateLimit, type RatePolicy } from './rate-limit.ts'
import type { Deadline } from './retry.ts'
import type { Secrets } from './secrets.ts'
import type { Transport } from './transport.ts'

/** What is told of each attempt, for logs, metrics and traces. It holds no header and no body. */
export interface CallReport {
  call: string
  row: string
  service: Service
  method: string
  path: string
  version: Version | undefined
  attempt: number
  durationMs: number
  status: number | undefined
  requestId: string | undefined
  globalRequestId: string | undefined
  error: OpenStackError | undefined
}

export interface WireOptions {
  transport: Transport
  secrets: Secrets
  clock: Clock
  breaker: BreakerPolicy
  rate: RatePolicy
  userAgent: string
  onCall?: ((report: CallReport) => void) | undefined
}

export interface Ask {
  base: string
  path: string
  token?: string | undefined
  version?: Version | undefined
  body?: unknown
  attempt: number
  globalRequestId?: string | undefined
  deadline: Deadline
}

export type Wire = (row: Call<string, unknown>, ask: Ask) => Promise<Answer>

export function createWire({ transport, secrets, clock, breaker, rate, userAgent, onCall }: WireOptions): Wire {
  const guards = new Map<Service, { pass: Breaker; take: RateLimit }>()
  const guardOf = (service: Service) => {
    const guard = guards.get(service) ?? {
      pass: createBreaker(service, breaker, clock),
      take: createRateLimit(service, rate, clock)
    }
    guards.set(service, guard)
    return guard
  }

  async function exchange(row: Call<string, unknown>, ask: Ask): Promise<Answer> {
    const body = ask.body === undefined ? undefined : JSON.stringify(ask.body)
    const headers = headersFor(row, ask, userAgent, body !== undefined)
    const answer = await transport.exchange({
      method: row.method,
      url: ask.base + ask.path,
      headers,
      body,
      signal: ask.deadline.signal
    })
    if (!row.ok.includes(answer.status)) throw fromAnswer(row, answer, secrets, clock.now())
    return answer
  }

  return async (row, ask) => {
    const startMs = clock.now()
    let asked = false
    const tell = (status: number | undefined, requestId: string | undefined, error?: OpenStackError): void => {
      const { name: call, row: number, service, method } = row
      const { path, version, attempt, globalRequestId } = ask
      const durationMs = clock.now() - startMs
      onCall?.({
        call,
        row: number,
        service,
        method,
        path,
        version,
        attempt,
        durationMs,
        status,
        requestId,
        globalRequestId,
        error
      })
    }
    try {
      const { pass, take } = guardOf(row.service)
      const wait = take(ask.deadline)
      if (wait) await wait
      const answer = await pass(() => {
        asked = true
        return exchange(row, ask)
      })
      tell(answer.status, requestIdOf(answer))
      return answer
    } catch (err) {
      const told = known(row, err, asked)
      tell(told.status, told.requestId, told)
      throw told
    }
  }
}

function known(row: Call<string, unknown>, err: unknown, asked: boolean): OpenStackError {
  if (!(err instanceof OpenStackError)) throw err
  const cutOff = asked && (err.code === 'TimedOut' || err.code === 'Aborted')
  return err.about({ call: label(row), maybeDone: !isRead(row) && (err.maybeDone || cutOff) })
}

function headersFor(
  row: Call<string, unknown>,
  { token, version, globalRequestId }: Ask,
  userAgent: string,
  hasBody: boolean
): Record<string, string> {
  return {
    accept: 'application/json',
    'user-agent': userAgent,
    ...(hasBody && { 'content-type': 'application/json' }),
    ...(token && { 'x-auth-token': token }),
    ...(version && { 'openstack-api-version': `${row.service} ${version}` }),
    ...(globalRequestId && { 'x-openstack-request-id': globalRequestId })
  }
}
