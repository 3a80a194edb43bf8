// The one error of this package. Decide by `code` and `retryable`, never by the message: it is for people.

export type LibvirtErrorCode =
  // before the first call
  | 'uri' // not a URI that this client can follow
  | 'connect' // nobody listens, or no way there
  | 'tls' // certificates: theirs not trusted, ours missing or refused
  | 'auth' // the server wants something that we don't have, or refused what we gave
  // the connection
  | 'closed' // by us, by the server, or by the network
  | 'keepalive' // the server fell silent
  | 'protocol' // a frame that no libvirt sends: the connection is given up
  // one call
  | 'argument' // cannot be put on the wire
  | 'decode' // the reply is not what this procedure returns
  | 'timeout'
  | 'aborted'
  // answers of the server
  | 'no-domain'
  | 'invalid-state'
  | 'unsupported'
  | 'denied'
  | 'busy'
  | 'agent' // the guest's agent is absent or doesn't answer
  | 'no-metadata'
  | 'operation-timeout'
  | 'operation-aborted'
  | 'operation-failed'
  | 'server' // any other number: see `server.number`

/** What the server said, in its own numbers (virErrorNumber, virErrorDomain, virErrorLevel). */
export interface ServerError {
  readonly number: number
  readonly domain: number
  readonly level: number
  readonly message: string
  readonly details: readonly string[]
}

export class LibvirtError extends Error {
  override readonly name = 'LibvirtError'
  readonly code: LibvirtErrorCode
  /** The same thing may succeed later, on a new connection if this one is gone. */
  readonly retryable: boolean
  readonly server: ServerError | undefined

  constructor(code: LibvirtErrorCode, message: string, { cause, server }: { cause?: unknown; server?: ServerError } = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.retryable = retryable.has(code)
    this.server = server
  }
}

const retryable: ReadonlySet<LibvirtErrorCode> = new Set([
  'connect',
  'closed',
  'keepalive',
  'protocol',
  'timeout',
  'busy',
  'agent',
  'operation-timeout'
])

// virErrorNumber, as libvirt's virterror.h gives it
const codes: Readonly<Record<number, LibvirtErrorCode>> = {
  3: 'unsupported', // NO_SUPPORT: not by this driver
  9: 'operation-failed',
  29: 'denied', // OPERATION_DENIED: a read-only connection
  42: 'no-domain',
  45: 'auth',
  55: 'invalid-state', // OPERATION_INVALID
  68: 'operation-timeout',
  74: 'unsupported', // ARGUMENT_UNSUPPORTED
  78: 'operation-aborted',
  79: 'auth', // AUTH_CANCELLED
  80: 'no-metadata',
  84: 'unsupported', // OPERATION_UNSUPPORTED
  86: 'agent', // AGENT_UNRESPONSIVE
  87: 'busy', // RESOURCE_BUSY
  88: 'denied', // ACCESS_DENIED
  94: 'auth', // AUTH_UNAVAILABLE
  97: 'agent' // AGENT_UNSYNCED
}

export function fromServer(server: ServerError): LibvirtError {
  return new LibvirtError(codes[server.number] ?? 'server', server.message, { server })
}

/** The connection is gone and a new one may help: the errors that `reconnecting()` is for. */
export function isConnectionLost(err: unknown): err is LibvirtError {
  return err instanceof LibvirtError && (err.code === 'closed' || err.code === 'keepalive' || err.code === 'protocol')
}
