// From a row to a value: token, endpoint and version are looked up for each request; nothing about a request is kept here.
import { type Call, type Extra, fillPath, isRead, label, type Params, queryString, type Send, type Service } from '../call.ts'
import { OpenStackError } from '../error.ts'
import { createToken } from '../resources/tokens.ts'
import { type Auth, secretOf, tokenRequest } from './auth.ts'
import { type BreakerPolicy, breakerPolicy } from './breaker.ts'
import { baseOf, findEndpoint, type Place, versionsAt } from './catalog.ts'
import { type Clock, systemClock } from './clock.ts'
import { type RunningDeadline, startDeadline, within } from './deadline.ts'
import { type RatePolicy, ratePolicy } from './rate-limit.ts'
import { readPolicy, retry, type RetryPolicy } from './retry.ts'
import { createSecrets } from './secrets.ts'
import { type Grant, shareTokens } from './tokens.ts'
import { createTransport } from './transport.ts'
import { discover, limits, negotiate, type Range } from './versions.ts'
import { type CallReport, createWire } from './wire.ts'

export interface SessionOptions extends Place {
  auth: Auth
  ca?: string | undefined
  insecure?: boolean | undefined
  /** for the TCP and TLS handshake; 5 s */
  connectTimeoutMs?: number | undefined
  /** for a whole call, repeats and waits included; 30 s */
  timeoutMs?: number | undefined
  retry?: RetryPolicy | undefined
  breaker?: BreakerPolicy | undefined
  rate?: RatePolicy | undefined
  clock?: Clock | undefined
  userAgent?: string | undefined
  onCall?: ((report: CallReport) => void) | undefined
}

/** What belongs to the caller of one request, or of a few. */
export interface Context {
  signal?: AbortSignal | undefined
  /** `req-<uuid>`: OpenStack's services write it into their logs beside their own id */
  globalRequestId?: string | undefined
}

export interface Session {
  send(context: Context): Send
  /** Asks each service for its versions and throws if one of the calls cannot be made. */
  check(calls: readonly Call<string, unknown>[]): Promise<void>
  close(): void
}

export function openSession(options: SessionOptions): Session {
  const { auth, clock = systemClock, timeoutMs = 30_000, retry: policy = readPolicy, connectTimeoutMs = 5_000 } = options
  const { breaker = breakerPolicy, rate = ratePolicy, userAgent = 'openstack-sdk-lite', onCall } = options
  const secrets = createSecrets()
  secrets.keep(secretOf(auth))
  const transport = createTransport({ ca: options.ca, insecure: options.insecure, connectTimeoutMs, scrub: secrets.scrub })
  const wire = createWire({ transport, secrets, clock, breaker, rate, userAgent, onCall })
  const tokens = shareTokens(fetchToken, clock, keepSecretWhileUsed)
  const ranges = new Map<string, Range | Promise<Range>>()

  /** A replaced token is still good for minutes, and requests with it may be on their way: it is forgotten one renewal later. */
  let replaced: Grant | undefined
  function keepSecretWhileUsed(old: Grant): void {
    if (replaced) secrets.drop(replaced.token)
    replaced = old
  }

  async function timed<T>(
    row: Call<string, unknown>,
    signal: AbortSignal | undefined,
    run: (deadline: RunningDeadline) => Promise<T>
  ): Promise<T> {
    const deadline = startDeadline(label(row), timeoutMs, clock.now() + timeoutMs, signal)
    try {
      return await run(deadline)
    } finally {
      deadline.end()
    }
  }

  async function fetchToken(): Promise<Grant> {
    const grant = await timed(createToken, undefined, deadline =>
      retry(
        async attempt => {
          const base = baseOf('identity', auth.url)
          const answer = await wire(createToken, { base, path: createToken.path, body: tokenRequest(auth), attempt, deadline })
          return createToken.decode(answer)
        },
        policy,
        clock,
        deadline
      )
    )
    secrets.keep(grant.token)
    return grant
  }

  async function fetchRange(service: Service, base: string): Promise<Range> {
    const row = discover(service)
    return timed(row, undefined, deadline =>
      retry(
        async attempt => row.decode(await wire(row, { base: versionsAt(base), path: '/', attempt, deadline })),
        policy,
        clock,
        deadline
      )
    )
  }

  function rangeOf(service: Service, base: string): Range | Promise<Range> {
    const known = ranges.get(base)
    if (known) return known
    const asked = fetchRange(service, base)
    ranges.set(base, asked)
    asked.then(
      range => ranges.set(base, range),
      () => ranges.delete(base) // asked again by the next call
    )
    return asked
  }

  async function attempt<Path extends string, Out>(
    row: Call<Path, Out>,
    path: string,
    extra: Extra,
    context: Context,
    number: number,
    deadline: RunningDeadline
  ): Promise<Out> {
    const ready = async <T>(value: T | Promise<T>): Promise<T> => (value instanceof Promise ? within(value, deadline) : value)
    const ask = async (grant: Grant): Promise<Out> => {
      const base = findEndpoint(grant.catalog, row.service, options)
      const version = limits[row.service] && negotiate(row, await ready(rangeOf(row.service, base)))
      const { globalRequestId } = context
      const answer = await wire(row, {
        base,
        path,
        token: grant.token,
        version,
        body: extra.body,
        attempt: number,
        globalRequestId,
        deadline
      })
      try {
        return row.decode(answer)
      } catch (err) {
        throw err instanceof OpenStackError ? err.about({ call: label(row), status: answer.status }) : err
      }
    }
    const grant = await ready(tokens.current())
    try {
      return await ask(grant)
    } catch (err) {
      if (!(err instanceof OpenStackError)) throw err
      if (err.code === 'NotAcceptable') ranges.clear() // the service was replaced by another release: look again next time
      if (err.code !== 'Unauthorized') throw err
      // refused before anything was done, so that even a write may be sent once more
      return ask(await ready(tokens.after(grant)))
    }
  }

  async function send<Path extends string, Out>(
    row: Call<Path, Out>,
    params: Params<Path>,
    extra: Extra,
    context: Context
  ): Promise<Out> {
    const path = fillPath(row.path, params) + queryString(extra.query)
    return timed(row, context.signal, deadline => {
      const once = (number: number): Promise<Out> => attempt(row, path, extra, context, number, deadline)
      return isRead(row) ? retry(once, policy, clock, deadline) : once(1)
    })
  }

  return {
    send:
      context =>
      (row, params, extra = {}) =>
        send(row, params, extra, context),
    async check(calls) {
      const { catalog } = await tokens.current()
      for (const row of calls) {
        if (!limits[row.service]) continue
        negotiate(row, await rangeOf(row.service, findEndpoint(catalog, row.service, options)))
      }
    },
    close: () => transport.close()
  }
}
