import { authenticate } from './authenticate.ts'
import { Libvirt } from './client.ts'
import { Connection } from './connection.ts'
import { LibvirtError } from './errors.ts'
import type { KeepaliveOptions } from './keepalive.ts'
import {
  CONNECT_READ_ONLY,
  connectOpen,
  connectRegisterCloseCallback,
  connectSupportsFeature,
  FEATURE
} from './procedures/connect.ts'
import type { Credentials } from './sasl/mechanism.ts'
import { Subscriptions } from './subscriptions.ts'
import { dial, type TlsMaterial } from './transport.ts'
import { parseUri } from './uri.ts'
import { word } from './words.ts'
import type { Reader } from './xdr/reader.ts'

export interface ConnectOptions {
  /** For everything until the hypervisor is open: dialling, TLS, authentication. */
  readonly connectTimeoutMs?: number
  /** For each call that doesn't say otherwise. */
  readonly callTimeoutMs?: number
  readonly signal?: AbortSignal
  /** false: a frozen server is noticed by the time-outs of calls only. */
  readonly keepalive?: KeepaliveOptions | false
  /** For SASL; without them a server that insists is an error. */
  readonly credentials?: Credentials
  /** In place of the files of pkipath. */
  readonly tls?: TlsMaterial
  readonly readOnly?: boolean
}

const CONNECTION_CLOSED = 362 // CONNECT_EVENT_CONNECTION_CLOSED: int reason
const closeReasons = ['error', 'end of file', 'keepalive', 'client'] as const // virConnectCloseReason

/** Dials, authenticates and opens. A socket that accepts is not yet a daemon that answers; this one has answered. */
export async function connect(uri: string, options: ConnectOptions = {}): Promise<Libvirt> {
  const {
    connectTimeoutMs = 10_000,
    callTimeoutMs = 30_000,
    keepalive = { intervalMs: 5000, count: 3 },
    readOnly = false
  } = options
  const { name, target } = parseUri(uri, { readOnly })
  const late = AbortSignal.timeout(connectTimeoutMs)
  const signal = options.signal ? AbortSignal.any([options.signal, late]) : late

  let connection: Connection | undefined
  try {
    const socket = await dial(target, { tls: options.tls, signal })
    const subscriptions = new Subscriptions((...args) => opened.call(...args))
    const opened = new Connection(socket, {
      onMessage: (...message) => onMessage(opened, subscriptions, ...message),
      timeoutMs: callTimeoutMs
    })
    connection = opened
    void opened.closed.then(reason => subscriptions.end(reason))

    const confidential = target.transport !== 'tcp'
    const { credentials } = options
    await authenticate((procedure, args) => opened.call(procedure, args, { signal }), { credentials, confidential })
    // before the open, as virsh does: asking is what turns keepalive on in the server
    const known = await opened.call(connectSupportsFeature, { feature: FEATURE.keepalive }, { signal })
    if (keepalive && known) opened.keepAlive(keepalive)
    await opened.call(connectOpen, { name, flags: readOnly ? CONNECT_READ_ONLY : 0 }, { signal })
    if (await opened.call(connectSupportsFeature, { feature: FEATURE.closeCallback }, { signal })) {
      await opened.call(connectRegisterCloseCallback, undefined, { signal }).catch(unlessUnsupported)
    }
    return new Libvirt(opened, subscriptions)
  } catch (err) {
    connection?.close()
    if (late.aborted) throw new LibvirtError('timeout', `${uri}: not open after ${connectTimeoutMs} ms`, { cause: err })
    if (options.signal?.aborted) throw new LibvirtError('aborted', `${uri}: given up`, { cause: err })
    throw err
  }
}

function onMessage(connection: Connection, subscriptions: Subscriptions, number: number, body: Reader): void {
  if (number === CONNECTION_CLOSED) {
    connection.fail(new LibvirtError('closed', `the server lost its hypervisor: ${word(closeReasons, body.int())}`))
  } else if (!subscriptions.dispatch(number, body)) {
    connection.counters.strayFrames++
  }
}

/** Not every driver behind the server has a link that it could lose. */
function unlessUnsupported(err: unknown): void {
  if (!(err instanceof LibvirtError && err.code === 'unsupported')) throw err
}
