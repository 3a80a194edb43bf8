// One socket: serials, waiting calls, keepalive. Knows frames and rows, but no procedure by name.
import type { Socket } from 'node:net'
import { fromServer, LibvirtError } from './errors.ts'
import {
  type Header,
  KEEPALIVE_PROGRAM,
  MESSAGE_STATUS,
  MESSAGE_TYPE,
  PROTOCOL_VERSION,
  readHeader,
  REMOTE_PROGRAM,
  writeFrame
} from './frame.ts'
import { HEADER_BYTES } from './frame.ts'
import { Framer } from './framer.ts'
import { type Keepalive, type KeepaliveOptions, PING, PONG, startKeepalive } from './keepalive.ts'
import type { Procedure } from './procedures/procedure.ts'
import { readServerError } from './server-error.ts'
import { Reader } from './xdr/reader.ts'
import { Writer } from './xdr/writer.ts'

export interface CallOptions {
  /** Gives the call up; the server may carry it out all the same. */
  readonly signal?: AbortSignal | undefined
  /** Infinity: wait as long as the connection lives. */
  readonly timeoutMs?: number | undefined
}

export interface Counters {
  /** Replies to calls that were given up before. */
  lateReplies: number
  /** Frames that belong to nothing we did: dropped too. */
  strayFrames: number
}

interface Waiting {
  readonly number: number
  readonly settle: (outcome: { error: LibvirtError } | { body: Reader }) => void
}

export type OnMessage = (number: number, body: Reader) => void

export class Connection {
  /** Settles once, when the connection ends: with the reason, or undefined if we closed it ourselves. */
  readonly closed: Promise<LibvirtError | undefined>
  readonly counters: Counters = { lateReplies: 0, strayFrames: 0 }

  #socket: Socket
  #onMessage: OnMessage
  #timeoutMs: number
  #framer = new Framer(frame => this.#route(frame))
  #writer = new Writer()
  #waiting = new Map<number, Waiting>()
  #serial = 0
  #keepalive: Keepalive | undefined
  #ended: LibvirtError | undefined
  #settleClosed: (reason: LibvirtError | undefined) => void

  constructor(socket: Socket, { onMessage, timeoutMs }: { onMessage: OnMessage; timeoutMs: number }) {
    const { promise, resolve } = withResolvers<LibvirtError | undefined>()
    this.closed = promise
    this.#settleClosed = resolve
    this.#socket = socket
    this.#onMessage = onMessage
    this.#timeoutMs = timeoutMs
    socket.on('data', chunk => this.#receive(chunk))
    socket.on('error', cause => this.fail(new LibvirtError('closed', `connection lost: ${cause.message}`, { cause })))
    socket.on('close', () => this.fail(new LibvirtError('closed', 'the server closed the connection')))
  }

  /** Calls may overlap: each reply finds its call by the serial. */
  call<Args, Result>(procedure: Procedure<Args, Result>, args: Args, options: CallOptions = {}): Promise<Result> {
    const { signal, timeoutMs = this.#timeoutMs } = options
    const { promise, resolve, reject } = withResolvers<Result>()
    if (this.#ended) return Promise.reject(gone(this.#ended))
    if (signal?.aborted) return Promise.reject(aborted(procedure.number, signal))

    const serial = this.#nextSerial()
    let frame: Buffer
    try {
      const head = { program: REMOTE_PROGRAM, procedure: procedure.number, type: MESSAGE_TYPE.call, serial }
      frame = writeFrame(this.#writer, head, () => procedure.encode(this.#writer, args))
    } catch (err) {
      return Promise.reject(err)
    }

    const giveUp = (error: LibvirtError) => this.#settle(serial, { error })
    const onAbort = signal && (() => giveUp(aborted(procedure.number, signal)))
    signal?.addEventListener('abort', onAbort!)
    const timer =
      timeoutMs < Infinity
        ? setTimeout(
            () => giveUp(new LibvirtError('timeout', `procedure ${procedure.number}: no reply in ${timeoutMs} ms`)),
            timeoutMs
          )
        : undefined

    this.#waiting.set(serial, {
      number: procedure.number,
      settle: outcome => {
        clearTimeout(timer)
        if (onAbort) signal.removeEventListener('abort', onAbort)
        if ('error' in outcome) return reject(outcome.error)
        try {
          const result = procedure.decode(outcome.body)
          outcome.body.end()
          resolve(result)
        } catch (err) {
          reject(err as Error)
        }
      }
    })
    this.#socket.write(frame)
    return promise
  }

  /** To be called once, after the server has said that it knows keepalive. */
  keepAlive(options: KeepaliveOptions): void {
    if (this.#ended) return
    this.#keepalive = startKeepalive(options, {
      ping: () => this.#sendKeepalive(PING),
      dead: () =>
        this.fail(new LibvirtError('keepalive', `the server was silent for ${options.count + 1} x ${options.intervalMs} ms`))
    })
  }

  /** Ends the connection and every waiting call. The first reason stands. */
  fail(reason: LibvirtError): void {
    this.#end(reason, reason)
  }

  close(): void {
    this.#end(new LibvirtError('closed', 'closed by this client'), undefined)
  }

  #end(forCalls: LibvirtError, forClosed: LibvirtError | undefined): void {
    if (this.#ended) return
    this.#ended = forCalls
    this.#keepalive?.stop()
    this.#socket.destroy()
    for (const serial of this.#waiting.keys()) this.#settle(serial, { error: gone(forCalls) })
    this.#settleClosed(forClosed)
  }

  #settle(serial: number, outcome: Parameters<Waiting['settle']>[0]): void {
    const call = this.#waiting.get(serial)
    this.#waiting.delete(serial)
    call?.settle(outcome)
  }

  #receive(chunk: Buffer): void {
    if (this.#ended) return
    this.#keepalive?.heard()
    try {
      this.#framer.push(chunk)
    } catch (cause) {
      this.fail(new LibvirtError('protocol', (cause as LibvirtError).message, { cause }))
    }
  }

  #route(frame: Buffer): void {
    const head = readHeader(frame)
    if (head.version !== PROTOCOL_VERSION) throw new LibvirtError('protocol', `protocol version ${head.version}`)
    if (head.program === KEEPALIVE_PROGRAM) {
      if (head.procedure === PING) this.#sendKeepalive(PONG)
      return
    }
    if (head.program !== REMOTE_PROGRAM) throw new LibvirtError('protocol', `program 0x${head.program.toString(16)}`)
    const body = new Reader(frame, HEADER_BYTES)
    if (head.type === MESSAGE_TYPE.reply) this.#onReply(head, body)
    else if (head.type === MESSAGE_TYPE.message) this.#onMessage(head.procedure, body)
    else this.counters.strayFrames++ // streams and calls: we never asked for one
  }

  #onReply(head: Header, body: Reader): void {
    const call = this.#waiting.get(head.serial)
    if (!call) {
      if (head.serial < this.#serial) this.counters.lateReplies++
      else this.counters.strayFrames++
      return
    }
    if (head.procedure !== call.number) throw new LibvirtError('protocol', `a reply to ${call.number} came as ${head.procedure}`)
    this.#settle(head.serial, head.status === MESSAGE_STATUS.ok ? { body } : { error: refusal(body) })
  }

  #sendKeepalive(procedure: number): void {
    this.#socket.write(writeFrame(this.#writer, { program: KEEPALIVE_PROGRAM, procedure, type: MESSAGE_TYPE.message, serial: 0 }))
  }

  #nextSerial(): number {
    const serial = this.#serial
    this.#serial = (serial + 1) >>> 0
    return serial
  }
}

const gone = (reason: LibvirtError) => new LibvirtError(reason.code, reason.message, { cause: reason })

const aborted = (number: number, signal: AbortSignal) =>
  new LibvirtError('aborted', `procedure ${number}: given up`, { cause: signal.reason })

function refusal(body: Reader): LibvirtError {
  try {
    return fromServer(readServerError(body))
  } catch (err) {
    return err as LibvirtError
  }
}

/** Promise.withResolvers, which Node 20 lacks */
function withResolvers<T>() {
  let resolve!: (value: T) => void
  let reject!: (reason: Error) => void
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}
