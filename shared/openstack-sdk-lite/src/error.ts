// The one error of this library. It never carries a request, a header or a body, so there is no place for a secret to hide in;
// whoever makes one from a service's words passes them through secrets.ts first.

export type ErrorCode =
  // the service answered
  | 'BadRequest'
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'Conflict'
  | 'NotAcceptable'
  | 'TooManyRequests'
  | 'ServiceFault'
  | 'UnexpectedStatus'
  | 'BadAnswer'
  // it did not
  | 'ConnectFailed'
  | 'ConnectionLost'
  | 'TimedOut'
  // it was not asked
  | 'CircuitOpen'
  | 'RateLimited'
  | 'VersionUnsupported'
  | 'NoEndpoint'
  | 'BadConfig'
  | 'BadInput'
  | 'Aborted'

export interface ErrorDetail {
  /** `servers.liveMigrate (C14)` */
  call?: string | undefined
  status?: number | undefined
  requestId?: string | undefined
  /** what the service itself said, word for word */
  words?: string | undefined
  /** the service's own machine-readable reason, as `placement.concurrent_update` */
  reason?: string | undefined
  retryAfterMs?: number | undefined
  /** a write whose answer was lost: the service may have done it, so read before writing again */
  maybeDone?: boolean | undefined
  cause?: unknown
}

const retryable: ReadonlySet<ErrorCode> = new Set([
  'TooManyRequests',
  'ServiceFault',
  'ConnectFailed',
  'ConnectionLost',
  'TimedOut',
  'CircuitOpen',
  'RateLimited'
])

export class OpenStackError extends Error {
  override readonly name = 'OpenStackError'
  readonly code: ErrorCode
  readonly retryable: boolean
  readonly call: string | undefined
  readonly status: number | undefined
  readonly requestId: string | undefined
  readonly words: string | undefined
  readonly reason: string | undefined
  readonly retryAfterMs: number | undefined
  readonly maybeDone: boolean
  readonly #text: string

  /** What went wrong, without the call and the request id that the message adds. */
  get text(): string {
    return this.#text
  }

  constructor(code: ErrorCode, text: string, detail: ErrorDetail = {}) {
    const { call, requestId, cause } = detail
    super(`${call ? `${call}: ` : ''}${text}${requestId ? ` [${requestId}]` : ''}`, cause === undefined ? {} : { cause })
    this.#text = text
    this.code = code
    this.retryable = retryable.has(code)
    this.call = call
    this.status = detail.status
    this.requestId = requestId
    this.words = detail.words
    this.reason = detail.reason
    this.retryAfterMs = detail.retryAfterMs
    this.maybeDone = detail.maybeDone ?? false
  }

  /** The same error with more known about it. */
  about(detail: ErrorDetail): OpenStackError {
    return new OpenStackError(this.code, this.#text, { ...this.toJSON(), cause: this.cause, ...detail })
  }

  toJSON(): ErrorDetail & { name: string; message: string; code: ErrorCode; retryable: boolean } {
    const { name, message, code, retryable, call, status, requestId, words, reason, retryAfterMs, maybeDone } = this
    return { name, message, code, retryable, call, status, requestId, words, reason, retryAfterMs, maybeDone }
  }
}
