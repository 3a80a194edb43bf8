// Packet captures: started, filled, ended and erased here. The bytes are in memory alone and go to nobody but the one who asks (OV-64).
import { createSocket, type Socket } from 'node:dgram'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { Client } from 'ovsdb-client'
import type { Logger } from '../../../shared/runtime/log.ts'
import { quietly } from '../inbox.ts'
import { interfaceBlock, packetBlock, section } from './pcapng.ts'
import { endCaptures, startHeaders, startMirror } from './rows.ts'
import { readDatagram, type Sample } from './sflow.ts'

export interface CaptureWish {
  readonly mode: 'headers' | 'mirror'
  readonly bridge: string
  /** `ifindexes` of its interfaces: a sample names the card, and a bond has several. */
  readonly port: { readonly name: string; readonly id: string; readonly ifindexes: ReadonlySet<number> } | undefined
  readonly output: { readonly name: string; readonly id: string } | undefined
  readonly seconds: number
  readonly maxBytes: number
  /** Of a mirrored frame 0 means all. */
  readonly headerBytes: number
  readonly sampling: number
  readonly user: string
}

export interface CaptureState {
  readonly id: string
  readonly state: 'running' | 'ended'
  readonly mode: 'headers' | 'mirror'
  readonly bridge: string
  readonly port?: string
  readonly outputPort?: string
  readonly user: string
  readonly startedAt: string
  readonly endedAt?: string
  readonly endReason?: EndReason
  readonly packets: number
  readonly bytes: number
}
export type EndReason = 'time' | 'size' | 'deleted' | 'shutdown'

interface Capture {
  readonly wish: CaptureWish
  state: CaptureState
  readonly chunks: Buffer[]
  readonly socket: Socket | undefined
  timer: NodeJS.Timeout | undefined
}

export interface CapturesOptions {
  readonly db: Client
  readonly node: string
  readonly clock: () => Date
  readonly log: Logger
  readonly onChange: (state: CaptureState) => void
  /** setTimeout, but for a test that has no ten minutes. */
  readonly later?: (work: () => void, ms: number) => NodeJS.Timeout
}

const keptMs = 10 * 60_000
const againMs = 1000

export class Captures {
  readonly #options: CapturesOptions
  readonly #all = new Map<string, Capture>()
  #starting = false
  readonly #closing = new AbortController()

  constructor(options: CapturesOptions) {
    this.#options = options
  }

  /** Undefined when one runs already, on this node or by somebody else's sFlow (OV-61, OV-63). */
  async start(wish: CaptureWish): Promise<CaptureState | undefined> {
    if (this.#starting || [...this.#all.values()].some(({ state }) => state.state === 'running')) return undefined
    this.#starting = true
    try {
      return await this.#start(wish)
    } finally {
      this.#starting = false
    }
  }

  get(id: string): CaptureState | undefined {
    return this.#all.get(id)?.state
  }

  file(id: string): Buffer | undefined {
    const capture = this.#all.get(id)
    return capture && Buffer.concat(capture.chunks)
  }

  async end(id: string, reason: EndReason): Promise<void> {
    const capture = this.#all.get(id)
    if (!capture || capture.state.state === 'ended') return
    const { clock, onChange, later = setTimeout } = this.#options
    clearTimeout(capture.timer)
    capture.state = { ...capture.state, state: 'ended', endedAt: clock().toISOString(), endReason: reason }
    capture.timer = later(() => this.#all.delete(id), keptMs).unref()
    capture.socket?.close()
    if (!(await this.#removed(id))) void this.#removeLater(id)
    onChange(capture.state)
  }

  /** On request: the bytes go at once. */
  async delete(id: string): Promise<void> {
    await this.end(id, 'deleted')
    this.#forget(id)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    for (const id of this.#all.keys()) {
      await this.end(id, 'shutdown')
      this.#forget(id)
    }
  }

  #forget(id: string): void {
    clearTimeout(this.#all.get(id)?.timer)
    this.#all.delete(id)
  }

  async #removed(id: string): Promise<boolean> {
    const { db, log } = this.#options
    try {
      await endCaptures(db, id)
      return true
    } catch (err) {
      log.warn({ err, id }, 'the row of a capture stays until the database answers')
      return false
    }
  }

  /** A row that is left costs the switch with every packet: it goes as soon as it can, not only with the next start of the agent. */
  async #removeLater(id: string): Promise<void> {
    const { signal } = this.#closing
    do await quietly(againMs, signal)
    while (!signal.aborted && !(await this.#removed(id))) // when closing, the next life finds it (OV-63)
  }

  async #start(wish: CaptureWish): Promise<CaptureState | undefined> {
    const { clock, db, node, onChange } = this.#options
    const id = randomUUID()
    const socket = wish.mode === 'headers' ? await listen() : undefined
    let started = false
    try {
      started = await this.#begin(id, wish, socket, db)
    } catch (error) {
      void this.#removeLater(id) // sent, and no answer came: it may be there
      throw error
    } finally {
      if (!started) socket?.close()
    }
    if (!started) return undefined
    const state: CaptureState = {
      id,
      state: 'running',
      mode: wish.mode,
      bridge: wish.bridge,
      ...(wish.port && { port: wish.port.name }),
      ...(wish.output && { outputPort: wish.output.name }),
      user: wish.user,
      startedAt: clock().toISOString(),
      packets: 0,
      bytes: 0
    }
    const head = [section(`drover ovs-agent on ${node}`), interfaceBlock(wish.port?.name ?? wish.bridge, wish.headerBytes)]
    const timer = setTimeout(() => void this.end(id, 'time'), wish.seconds * 1000)
    const capture: Capture = { wish, state, chunks: wish.mode === 'headers' ? head : [], socket, timer }
    this.#all.set(id, capture)
    socket?.on('message', datagram => this.#hear(capture, datagram))
    onChange(state)
    return state
  }

  async #begin(id: string, wish: CaptureWish, socket: Socket | undefined, db: Client): Promise<boolean> {
    if (socket) {
      const { port } = socket.address()
      return startHeaders(db, id, { bridge: wish.bridge, port, headerBytes: wish.headerBytes, sampling: wish.sampling })
    }
    if (!wish.port || !wish.output) return false
    const ends = { bridge: wish.bridge, portId: wish.port.id, outputId: wish.output.id, snapBytes: wish.headerBytes }
    await startMirror(db, id, ends)
    return true
  }

  #hear(capture: Capture, datagram: Buffer): void {
    const { state, wish } = capture
    if (state.state === 'ended') return
    const wanted = ({ input, output }: Sample) =>
      wish.port === undefined || wish.port.ifindexes.has(input) || (output !== undefined && wish.port.ifindexes.has(output))
    for (const sample of readDatagram(datagram)?.filter(wanted) ?? []) {
      const block = packetBlock(this.#options.clock().getTime(), sample, 0)
      if (capture.state.bytes + block.length > wish.maxBytes) return void this.end(state.id, 'size')
      capture.chunks.push(block)
      capture.state = { ...capture.state, packets: capture.state.packets + 1, bytes: capture.state.bytes + block.length }
    }
  }
}

async function listen(): Promise<Socket> {
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return socket
}
