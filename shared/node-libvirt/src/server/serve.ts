// A libvirt that answers: one for each accepted socket. What it says comes from the caller's answers; the greeting, the callbacks of
// events and keepalive are the same for every hypervisor and are here. For simulators and tests: it authenticates nobody.
import type { Socket } from 'node:net'
import { LibvirtError } from '../errors.ts'
import {
  HEADER_BYTES,
  KEEPALIVE_PROGRAM,
  MESSAGE_STATUS,
  MESSAGE_TYPE,
  readHeader,
  REMOTE_PROGRAM,
  writeFrame
} from '../frame.ts'
import { Framer } from '../framer.ts'
import { PING, PONG } from '../keepalive.ts'
import { AUTH } from '../procedures/auth.ts'
import { FEATURE } from '../procedures/connect.ts'
import { Reader } from '../xdr/reader.ts'
import { Writer } from '../xdr/writer.ts'
import { type EventKind, eventKinds } from '../events/index.ts'
import { eventIdOf, messageOf, type ServedEvent, writeEvent } from './events.ts'
import { rows, type ServedRow } from './rows.ts'

type Answers = typeof rows
type ResultOf<Row> = Row extends ServedRow<infer _Args, infer Result> ? Result : never
type ArgsOf<Row> = Row extends ServedRow<infer Args, infer _Result> ? Args : never

/** What a hypervisor says to each call that it knows. A `LibvirtError` of `refusal` is told to the client as it is. */
export type Hypervisor = { readonly [Name in keyof Answers]?: (args: ArgsOf<Answers[Name]>) => ResultOf<Answers[Name]> }

/** An answer of the server that is an error: virErrorNumber, 42 for a domain that is not there. */
export const refusal = (number: number, message: string): LibvirtError =>
  new LibvirtError('server', message, { server: { number, domain: 10, level: 2, message, details: [] } })

export interface ServerOptions {
  /** Events that it knows, for a libvirt that is older or a driver that has few; all of them by default. */
  readonly kinds?: readonly EventKind[]
}

const UNKNOWN_PROCEDURE = 39 // VIR_ERR_RPC
const INTERNAL = 1
const features: ReadonlySet<number> = new Set([FEATURE.keepalive, FEATURE.eventCallback])

export class ServerConnection {
  readonly #socket: Socket
  readonly #answers = new Map<number, (r: Reader) => (w: Writer) => unknown>()
  readonly #writer = new Writer()
  readonly #callbacks = new Map<number, { eventId: number; domain: string | undefined }>()
  #nextCallback = 1

  constructor(socket: Socket, hypervisor: Hypervisor, { kinds = eventKinds }: ServerOptions = {}) {
    this.#socket = socket
    const known = new Set(kinds.map(eventIdOf))
    const own: Hypervisor = {
      authList: () => [AUTH.none],
      open: () => {},
      supportsFeature: ({ feature }) => features.has(feature),
      register: ({ eventId, domain }) => {
        if (!known.has(eventId)) throw refusal(INTERNAL, `unsupported event ID ${eventId}`)
        const callback = this.#nextCallback++
        this.#callbacks.set(callback, { eventId, domain: domain?.uuid })
        return callback
      },
      deregister: ({ callbackId }) => void this.#callbacks.delete(callbackId),
      close: () => {}
    }
    for (const name of Object.keys(rows) as (keyof Answers)[]) this.#learn(rows[name], own[name] ?? hypervisor[name])
    const framer = new Framer(frame => this.#take(frame))
    socket.on('data', chunk => {
      try {
        framer.push(chunk)
      } catch {
        socket.destroy() // out of step: nothing that follows can be understood
      }
    })
    socket.on('error', () => {}) // a client may leave in any way it likes
  }

  /** To those who asked for its kind, of every domain or of this one. */
  tell(event: ServedEvent): void {
    for (const [callback, { eventId, domain }] of this.#callbacks) {
      if (eventId !== eventIdOf(event.kind) || (domain ?? event.domain.uuid) !== event.domain.uuid) continue
      const head = { program: REMOTE_PROGRAM, procedure: messageOf(event.kind), type: MESSAGE_TYPE.message, serial: 0 }
      this.#socket.write(writeFrame(this.#writer, head, () => writeEvent(this.#writer, callback, event)))
    }
  }

  close(): void {
    this.#socket.destroy()
  }

  #learn(row: ServedRow<unknown, never>, answer: ((args: never) => unknown) | undefined): void {
    if (!answer) return
    this.#answers.set(row.number, r => {
      const result = answer(row.read(r) as never) as never // the answer is the row's own
      return w => row.write(w, result)
    })
  }

  #take(frame: Buffer): void {
    const { program, procedure, type, serial } = readHeader(frame)
    if (program === KEEPALIVE_PROGRAM) {
      const pong = { program: KEEPALIVE_PROGRAM, procedure: PONG, type: MESSAGE_TYPE.message, serial: 0 }
      if (procedure === PING) this.#socket.write(writeFrame(this.#writer, pong))
      return
    }
    if (program !== REMOTE_PROGRAM || type !== MESSAGE_TYPE.call) return
    const head = { program, procedure, type: MESSAGE_TYPE.reply, serial }
    try {
      const answer = this.#answers.get(procedure)
      if (!answer) throw refusal(UNKNOWN_PROCEDURE, `unknown procedure: ${procedure}`)
      const write = answer(new Reader(frame, HEADER_BYTES))
      this.#socket.write(writeFrame(this.#writer, head, () => void write(this.#writer)))
    } catch (err) {
      const status = MESSAGE_STATUS.error
      this.#socket.write(writeFrame(this.#writer, { ...head, status }, () => writeError(this.#writer, err as Error)))
    }
  }
}

/** struct virNetMessageError, its unused parts empty; see server-error.ts. */
function writeError(w: Writer, err: Error): void {
  const { number = INTERNAL, domain = 0, level = 2 } = (err instanceof LibvirtError && err.server) || {}
  w.int(number).int(domain).uint(1).string(err.message).int(level)
  w.uint(0).uint(0).uint(0).uint(0).int(0).int(0).uint(0)
}
