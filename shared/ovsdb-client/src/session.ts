// A connection made ready: dialled, known to be the right server, with the schema at hand.
import { Connection } from './connection.ts'
import { OvsdbError } from './error.ts'
import { type Remote, type TlsOptions, dial } from './remote.ts'
import { type Schema, parseSchema } from './schema.ts'
import { ServerWatch, type Wish, serverMonitorId } from './server-watch.ts'
import { type Update, readUpdate } from './subscribe.ts'

export type Session = { readonly connection: Connection; readonly schema: Schema; readonly remote: Remote }

export type SessionOptions = {
  readonly tls: TlsOptions
  readonly probeMs: number
  readonly maxMessageBytes: number
  readonly connectTimeoutMs: number
  readonly callTimeoutMs: number
  readonly wish: Wish
  readonly onUpdate: (update: Update) => void
  /** `locked` and `stolen`: RFC 7047 §4.1.9, §4.1.10. */
  readonly onLock: (held: boolean, name: unknown) => void
}

export async function openSession(remote: Remote, options: SessionOptions, signal: AbortSignal): Promise<Session> {
  const { tls, probeMs, maxMessageBytes, connectTimeoutMs, callTimeoutMs: timeoutMs, wish } = options
  const socket = await dial(remote, tls, AbortSignal.any([signal, AbortSignal.timeout(connectTimeoutMs)]))
  const connection = new Connection(socket, { probeMs, maxMessageBytes, onNotification })
  const watch = new ServerWatch(wish, error => connection.close(error))
  const onAbort = () => connection.close(new OvsdbError('closed', 'the client was closed'))
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()
  void connection.closed.then(() => signal.removeEventListener('abort', onAbort))

  function onNotification(method: string, params: readonly unknown[]): void {
    if (method === 'locked' || method === 'stolen') return options.onLock(method === 'locked', params[0])
    // The database was converted or replaced under us: begin anew, with its new schema.
    if (method === 'monitor_canceled')
      return connection.close(new OvsdbError('connection-lost', 'the server cancelled a monitor'))
    const update = readUpdate(method, params)
    if (!update) throw new OvsdbError('protocol', `unexpected notification ${method}`)
    return update.id === serverMonitorId ? watch.update(update) : options.onUpdate(update)
  }

  try {
    await connection.call('set_db_change_aware', [true], () => {}, { timeoutMs }).catch(ifUnknownMethod)
    await watch.start(connection, timeoutMs)
    return { connection, remote, schema: await connection.call('get_schema', [wish.database], parseSchema, { timeoutMs }) }
  } catch (error) {
    connection.close(error instanceof OvsdbError ? error : new OvsdbError('protocol', 'no session', { cause: error }))
    throw error
  }
}

/** Before OVS 2.9 a server simply closes its connections when a database changes. */
function ifUnknownMethod(error: unknown): void {
  if (!(error instanceof OvsdbError && error.code === 'unknown-method')) throw error
}
