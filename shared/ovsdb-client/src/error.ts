// Every failure of this package is an OvsdbError. `retryable` says whether the same call, repeated as it is, may succeed.
const retryable = {
  // the way to the server
  'connect-failed': true,
  'tls-failed': false,
  'unsuitable-server': true, // not the leader, cut off from its cluster, behind what was already seen
  'connection-lost': true,
  unresponsive: true, // an echo was not answered
  protocol: true, // the peer broke the protocol; the connection was closed
  'too-large': false,
  // the call
  timeout: true,
  cancelled: false,
  closed: false,
  busy: true,
  'outcome-unknown': false, // a transaction was sent and the connection lost: it may have been committed
  'unknown-method': false,
  // values and specs
  notation: false,
  schema: false,
  // what the server answers: RFC 7047 §3.1, §4.1, §5.2 and ovsdb-server(7)
  'constraint-violation': false,
  'referential-integrity': false,
  'domain-error': false,
  'range-error': false,
  'wait-timed-out': true,
  aborted: false,
  'not-owner': false,
  'duplicate-uuid': false,
  'duplicate-uuid-name': false,
  'unknown-column': false,
  'unknown-table': false,
  'unknown-database': false,
  'syntax-error': false,
  'not-supported': false,
  'permission-denied': false,
  'resources-exhausted': true,
  'io-error': true,
  'not-leader': true,
  'cluster-error': true,
  'internal-error': true,
  refused: false // a word this package doesn't know: see `serverError`
} as const

export type OvsdbErrorCode = keyof typeof retryable

const words: ReadonlyMap<string, OvsdbErrorCode> = new Map([
  ['constraint violation', 'constraint-violation'],
  ['referential integrity violation', 'referential-integrity'],
  ['domain error', 'domain-error'],
  ['range error', 'range-error'],
  ['timed out', 'wait-timed-out'],
  ['aborted', 'aborted'],
  ['canceled', 'cancelled'],
  ['not owner', 'not-owner'],
  ['duplicate uuid', 'duplicate-uuid'],
  ['duplicate uuid-name', 'duplicate-uuid-name'],
  ['unknown column', 'unknown-column'],
  ['unknown table', 'unknown-table'],
  ['unknown database', 'unknown-database'],
  ['unknown method', 'unknown-method'],
  ['syntax error', 'syntax-error'],
  ['not supported', 'not-supported'],
  ['permission error', 'permission-denied'],
  ['resources exhausted', 'resources-exhausted'],
  ['I/O error', 'io-error'],
  ['not leader', 'not-leader'],
  ['cluster error', 'cluster-error'],
  ['internal error', 'internal-error']
])

type Facts = { cause?: unknown; serverError?: string; details?: string; operation?: number }

export class OvsdbError extends Error {
  override readonly name = 'OvsdbError'
  readonly code: OvsdbErrorCode
  readonly retryable: boolean
  /** The server's own word, e.g. "constraint violation". */
  readonly serverError: string | undefined
  readonly details: string | undefined
  /** Which operation of a transaction failed; undefined when the commit as a whole was refused. */
  readonly operation: number | undefined

  constructor(code: OvsdbErrorCode, message: string, { cause, serverError, details, operation }: Facts = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.retryable = retryable[code]
    this.serverError = serverError
    this.details = details
    this.operation = operation
  }
}

/** An `<error>` as the server writes it: an object with error and details, or a bare string ("unknown method"). */
export function serverRefusal(context: string, error: unknown, operation?: number): OvsdbError {
  const { error: word, details } =
    typeof error === 'object' && error !== null
      ? (error as { error?: unknown; details?: unknown })
      : { error, details: undefined }
  const serverError = typeof word === 'string' ? word : JSON.stringify(word)
  const text = typeof details === 'string' ? details : undefined
  return new OvsdbError(words.get(serverError) ?? 'refused', `${context}: ${serverError}${text ? ` (${text})` : ''}`, {
    serverError,
    ...(text !== undefined && { details: text }),
    ...(operation !== undefined && { operation })
  })
}
