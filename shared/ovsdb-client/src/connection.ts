// One socket: requests out, replies matched by id, the server's messages handed on in the order in which they came.
import type { Socket } from 'node:net'
import { OvsdbError, serverRefusal } from './error.ts'
import { Heartbeat } from './heartbeat.ts'
import { parseJson } from './json.ts'
import { JsonStream } from './json-stream.ts'
import { readMessage, writeCancel, writeError, writeRequest, writeResult } from './message.ts'

export type ConnectionOptions = {
  /** Called while the bytes are being read, so that an update right behind a monitor's reply finds the monitor in place. */
  readonly onNotification: (method: string, params: readonly unknown[]) => void
  /** After so much silence an echo is sent; after as much again the connection is given up. */
  readonly probeMs: number
  readonly maxMessageBytes: number
}

export type CallOptions = { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined }
type Waiting = { readonly method: string; resolve(result: unknown): void; reject(error: OvsdbError): void }

const echoId = 'echo' // calls have numbers
const maxUnsentBytes = 64 * 1024 * 1024

export class Connection {
  readonly #socket: Socket
  readonly #options: ConnectionOptions
  readonly #stream: JsonStream
  readonly #waiting = new Map<unknown, Waiting>()
  readonly #closed = Promise.withResolvers<OvsdbError>()
  #nextId = 0
  #dead: OvsdbError | undefined
  readonly #heartbeat: Heartbeat
  /** Replies nobody waited for: late, twice, or to a call that was never made. */
  droppedReplies = 0

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket
    this.#options = options
    this.#stream = new JsonStream(options.maxMessageBytes)
    this.#heartbeat = new Heartbeat(
      options.probeMs,
      () => this.#write(writeRequest(echoId, 'echo', [])),
      () => this.close(new OvsdbError('unresponsive', `no sign of life for ${2 * options.probeMs} ms`))
    )
    socket.on('data', chunk => this.#read(chunk))
    socket.on('error', cause => this.close(new OvsdbError('connection-lost', 'the connection broke', { cause })))
    socket.on('close', () => this.close(new OvsdbError('connection-lost', 'the server closed the connection')))
  }

  /** Why the connection ended, once it has. */
  get closed(): Promise<OvsdbError> {
    return this.#closed.promise
  }

  /**
   * `decode` runs while the reply is being read, before any message behind it. A call that times out stops waiting; its late reply
   * is dropped and harms nobody. An abort asks the server to take the request back and goes on waiting for what it says.
   */
  call<T>(
    method: string,
    params: readonly unknown[],
    decode: (result: unknown) => T,
    { timeoutMs, signal }: CallOptions
  ): Promise<T> {
    if (this.#dead) return Promise.reject(this.#dead)
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const id = this.#nextId++
    const cancel = () => this.#write(writeCancel(id))
    const timer = setTimeout(() => {
      cancel()
      this.#waiting.delete(id)
      waiting.reject(new OvsdbError('timeout', `no answer to ${method} within ${timeoutMs} ms`))
    }, timeoutMs)
    const settle = (act: () => void) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', cancel)
      act()
    }
    const waiting: Waiting = {
      method,
      resolve: result =>
        settle(() => {
          try {
            resolve(decode(result))
          } catch (error) {
            reject(error)
          }
        }),
      reject: error => settle(() => reject(error))
    }
    this.#waiting.set(id, waiting)
    this.#write(writeRequest(id, method, params))
    signal?.addEventListener('abort', cancel)
    if (signal?.aborted) cancel() // between the wait for a connection and now
    return promise
  }

  close(reason: OvsdbError): void {
    if (this.#dead) return
    this.#dead = reason
    this.#heartbeat.stop()
    this.#socket.destroy()
    for (const waiting of this.#waiting.values()) waiting.reject(reason)
    this.#waiting.clear()
    this.#closed.resolve(reason)
  }

  #write(text: string): void {
    this.#socket.write(text)
    if (this.#socket.writableLength > maxUnsentBytes) {
      this.close(new OvsdbError('unresponsive', `the server left ${maxUnsentBytes} bytes unread`))
    }
  }

  #read(chunk: Uint8Array): void {
    this.#heartbeat.heard()
    try {
      for (const text of this.#stream.push(chunk)) {
        if (this.#dead) return
        this.#take(text)
      }
    } catch (error) {
      // Out of step, or a message that makes no sense: nothing after it can be trusted.
      const reason =
        error instanceof OvsdbError ? error : new OvsdbError('protocol', 'a message could not be handled', { cause: error })
      this.close(reason)
    }
  }

  #take(text: Parameters<typeof parseJson>[0]): void {
    const message = readMessage(parseJson(text))
    switch (message.kind) {
      case 'notification':
        return this.#options.onNotification(message.method, message.params)
      case 'request':
        return this.#write(
          message.method === 'echo' ? writeResult(message.id, message.params) : writeError(message.id, 'unknown method')
        )
      default: {
        if (message.id === echoId) return
        const waiting = this.#waiting.get(message.id)
        if (!waiting) return void this.droppedReplies++
        this.#waiting.delete(message.id)
        if (message.kind === 'result') waiting.resolve(message.result)
        else waiting.reject(serverRefusal(waiting.method, message.error))
      }
    }
  }
}
