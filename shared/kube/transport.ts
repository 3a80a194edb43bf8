import type { Credentials } from './credentials.ts'
import type { KubeErrorCode } from './errors.ts'
import { fromThrown, KubeError } from './errors.ts'
import type { Message } from './exchange.ts'
import type { Answer } from './in-process.ts'
import { exchange, isSuccess, readJson, readText, refusal } from './exchange.ts'
import type { Pace, RetryPolicy } from './retry.ts'
import { retry } from './retry.ts'

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'apply' | 'patch' | 'delete' | 'review' | 'health'

/** One exchange with the server, for metrics. */
export interface CallInfo {
  verb: Verb
  kind: string
  code: 'OK' | KubeErrorCode
  ms: number
}

/** pino's, as far as it is needed here. */
export interface Log {
  warn(fields: object, message: string): void
}

export interface Call extends Message {
  verb: Verb
  kind: string
}

export interface Transport {
  readonly pace: Pace
  readonly log: Log | undefined
  /** One answer, decoded; retried as the policy says, within the time limit of a call. */
  json<T>(call: Call, policy: RetryPolicy, signal?: AbortSignal): Promise<T>
  text(call: Call, policy: RetryPolicy): Promise<string>
  /** An answer without an end, not retried. The time limit holds until it begins. */
  stream(call: Call, signal: AbortSignal): Promise<Answer>
  close(): void
}

interface Setup {
  credentials: Credentials
  userAgent: string
  timeoutMs: number
  pace: Pace
  log?: Log | undefined
  onCall?: ((call: CallInfo) => void) | undefined
}

export function createTransport({ credentials, userAgent, timeoutMs, pace, log, onCall }: Setup): Transport {
  let closed = false
  const ended = new AbortController()

  const send = async (call: Call, signal: AbortSignal): Promise<Answer> => {
    const options = await credentials.options()
    const response = await exchange(credentials.server, options, call, userAgent, signal)
    // a rotated token, certificate or kubeconfig: read again, once
    if (response.statusCode !== 401 || !(await credentials.renew(options))) return response
    response.resume()
    return exchange(credentials.server, await credentials.options(), call, userAgent, signal)
  }

  const measured = async <T>(call: Call, signal: AbortSignal, read: (response: Answer) => Promise<T>): Promise<T> => {
    const startedAt = performance.now()
    let code: CallInfo['code'] = 'OK'
    try {
      if (closed) throw new KubeError('Aborted', 'the connection is closed')
      const response = await send(call, signal)
      const warning = response.headers['warning']
      if (warning !== undefined) log?.warn({ verb: call.verb, kind: call.kind, warning }, 'warning from the API server')
      if (!isSuccess(response)) throw await refusal(response)
      return await read(response)
    } catch (thrown) {
      const error = closed ? new KubeError('Aborted', 'the connection is closed', { cause: thrown }) : fromThrown(thrown, signal)
      code = error.code
      throw error
    } finally {
      onCall?.({ verb: call.verb, kind: call.kind, code, ms: performance.now() - startedAt })
    }
  }

  const answer = <T>(call: Call, policy: RetryPolicy, read: (response: Answer) => Promise<T>, by?: AbortSignal): Promise<T> => {
    const limit = new AbortController()
    const late = setTimeout(() => limit.abort(new KubeError('Timeout', 'the API server did not answer in time')), timeoutMs)
    late.unref()
    const signal = by ? AbortSignal.any([by, limit.signal]) : limit.signal
    return retry(policy, pace, signal, () => measured(call, signal, read)).finally(() => clearTimeout(late))
  }

  return {
    pace,
    log,
    json: <T>(call: Call, policy: RetryPolicy, signal?: AbortSignal) =>
      answer(call, policy, response => readJson<T>(response), signal),
    text: (call, policy) => answer(call, policy, readText),
    async stream(call, signal) {
      const limit = new AbortController()
      const late = setTimeout(() => limit.abort(new KubeError('Timeout', `the ${call.verb} did not begin in time`)), timeoutMs)
      try {
        return await measured(call, AbortSignal.any([signal, limit.signal, ended.signal]), async response => response)
      } finally {
        clearTimeout(late)
      }
    },
    close() {
      closed = true
      credentials.close()
      ended.abort(new KubeError('Aborted', 'the connection is closed'))
    }
  }
}
