// The one error class of this boundary. `code` is ours and closed; the HTTP status stands beside it where there was an answer.

export type KubeErrorCode =
  | 'BadRequest'
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'Conflict'
  | 'AlreadyExists'
  | 'Gone'
  | 'TooLarge'
  | 'Invalid'
  | 'TooManyRequests'
  | 'Internal'
  | 'Unavailable'
  | 'Timeout'
  | 'Unreachable' // no answer: refused, reset, no route, a certificate that does not fit
  | 'Malformed' // an answer that is not what the protocol says
  | 'Aborted' // by the caller
  | 'Unconfigured' // no usable kubeconfig

export interface StatusDetails {
  name?: string
  group?: string
  kind?: string
  retryAfterSeconds?: number
  causes?: { reason?: string; message?: string; field?: string }[]
}

/** metav1.Status, the body of every refusal. */
export interface Status {
  code?: number
  reason?: string
  message?: string
  details?: StatusDetails
}

const byStatus: Record<number, KubeErrorCode> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Gone',
  413: 'TooLarge',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'Internal',
  502: 'Unavailable',
  503: 'Unavailable',
  504: 'Timeout'
}

const transient: ReadonlySet<KubeErrorCode> = new Set([
  'Conflict',
  'TooManyRequests',
  'Internal',
  'Unavailable',
  'Timeout',
  'Unreachable',
  'Malformed'
])

interface Parts {
  status?: number
  details?: StatusDetails
  retryAfterMs?: number
  cause?: unknown
}

export class KubeError extends Error {
  override readonly name = 'KubeError'
  readonly code: KubeErrorCode
  readonly status: number | undefined
  readonly details: StatusDetails | undefined
  readonly retryAfterMs: number | undefined

  constructor(code: KubeErrorCode, message: string, { status, details, retryAfterMs, cause }: Parts = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.status = status
    this.details = details
    this.retryAfterMs = retryAfterMs
  }

  /** Whether the same call may succeed later without anybody changing it. */
  get retryable(): boolean {
    return transient.has(this.code) && !isOwnershipConflict(this)
  }
}

/** Another field manager owns a field of the apply. The message names manager and field; trying again does not help. */
export function isOwnershipConflict(error: KubeError): boolean {
  return error.code === 'Conflict' && hasCause(error, 'FieldManagerConflict')
}

/** The version asked for is no longer, or not yet (etcd restored from a backup), in the server's history: list again. */
export function isVersionLost(error: KubeError): boolean {
  return error.code === 'Gone' || hasCause(error, 'ResourceVersionTooLarge')
}

export function isRefused(error: KubeError): boolean {
  return error.code === 'Unreachable' && errno(error.cause) === 'ECONNREFUSED'
}

export function fromStatus(status: number, body: Status, retryAfterMs?: number): KubeError {
  const code =
    body.reason === 'AlreadyExists' ? 'AlreadyExists' : (byStatus[status] ?? (status < 500 ? 'BadRequest' : 'Internal'))
  return new KubeError(code, body.message || `the API server answered ${status}`, {
    status,
    ...(body.details && { details: body.details }),
    ...(retryAfterMs !== undefined && { retryAfterMs })
  })
}

/** What a socket, a stream or an abort signal threw. */
export function fromThrown(thrown: unknown, signal?: AbortSignal): KubeError {
  if (thrown instanceof KubeError) return thrown
  if (signal?.aborted) return fromSignal(signal)
  return new KubeError(
    'Unreachable',
    `no answer from the API server: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
    {
      cause: thrown
    }
  )
}

function fromSignal({ reason }: AbortSignal): KubeError {
  if (reason instanceof KubeError) return reason
  const timedOut = reason instanceof Error && reason.name === 'TimeoutError'
  return timedOut
    ? new KubeError('Timeout', 'the API server did not answer in time', { cause: reason })
    : new KubeError('Aborted', 'the call was aborted', { cause: reason })
}

const hasCause = (error: KubeError, reason: string): boolean =>
  error.details?.causes?.some(cause => cause.reason === reason) ?? false

const errno = (cause: unknown): unknown => (cause instanceof Error && 'code' in cause ? cause.code : undefined)
