// A libvirtd by script, for what a healthy one never does. What the script leaves out is answered politely.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import {
  type Header,
  HEADER_BYTES,
  KEEPALIVE_PROGRAM,
  MESSAGE_TYPE,
  readHeader,
  REMOTE_PROGRAM,
  writeFrame
} from '../../shared/node-libvirt/src/frame.ts'
import { Framer } from '../../shared/node-libvirt/src/framer.ts'
import { Reader } from '../../shared/node-libvirt/src/xdr/reader.ts'
import { Writer } from '../../shared/node-libvirt/src/xdr/writer.ts'

type Write = (w: Writer) => unknown

export interface Received extends Header {
  readonly body: Reader
}

export class Peer {
  readonly socket: Socket
  readonly received: Received[] = []

  constructor(socket: Socket) {
    this.socket = socket
  }

  reply({ procedure, serial }: Pick<Header, 'procedure' | 'serial'>, write: Write = () => {}, status = 0): void {
    this.frame({ program: REMOTE_PROGRAM, procedure, type: MESSAGE_TYPE.reply, serial, status }, write)
  }

  /** An error as libvirt sends it: struct virNetMessageError with its unused parts empty. */
  refuse(call: Received, code: number, message: string): void {
    this.reply(
      call,
      w => w.int(code).int(7).uint(1).string(message).int(2).uint(0).uint(0).uint(0).uint(0).int(0).int(0).uint(0),
      1
    )
  }

  message(procedure: number, write: Write = () => {}): void {
    this.frame({ program: REMOTE_PROGRAM, procedure, type: MESSAGE_TYPE.message, serial: 0 }, write)
  }

  keepalive(procedure: number): void {
    this.frame({ program: KEEPALIVE_PROGRAM, procedure, type: MESSAGE_TYPE.message, serial: 0 })
  }

  frame(head: Parameters<typeof writeFrame>[1], write: Write = () => {}): void {
    const w = new Writer()
    this.socket.write(writeFrame(w, head, () => void write(w)))
  }
}

export type Script = Readonly<Record<number, (call: Received, peer: Peer) => void>>

const polite: Script = {
  66: (call, peer) => peer.reply(call, w => w.list([0], type => w.int(type))), // AUTH_LIST: none
  60: (call, peer) => peer.reply(call, w => w.int(call.body.int() === 10 ? 1 : 0)), // features: keepalive alone
  1: (call, peer) => peer.reply(call),
  2: (call, peer) => peer.reply(call),
  316: (call, peer) => peer.reply(call, w => w.int(call.body.int())), // the callback id is the event's
  317: (call, peer) => peer.reply(call)
}

/** A mute number (`() => {}`) is a call that never gets an answer. */
export async function fakeServer(
  t: Test,
  script: Script = {}
): Promise<{ uri: string; tcpUri: () => Promise<string>; peers: Peer[] }> {
  const dir = await mkdtemp(join(tmpdir(), 'd-'))
  const peers: Peer[] = []
  const serve = (socket: Socket): void => {
    const peer = new Peer(socket)
    peers.push(peer)
    const framer = new Framer(frame => {
      const received = { ...readHeader(frame), body: new Reader(Buffer.from(frame), HEADER_BYTES) }
      peer.received.push(received)
      if (received.program !== REMOTE_PROGRAM) return
      const handler = script[received.procedure] ?? polite[received.procedure]
      if (!handler) throw new Error(`the script has no procedure ${received.procedure}`)
      handler(received, peer)
    })
    socket.on('data', chunk => framer.push(chunk))
    socket.on('error', () => {}) // the client may leave in any way it likes
  }
  const servers = [createServer(serve), createServer(serve)] as const
  const [local, remote] = servers
  const path = join(dir, 's')
  local.listen(path)
  await once(local, 'listening')
  t.teardown(async () => {
    for (const { socket } of peers) socket.destroy()
    for (const server of servers) server.close()
    await rm(dir, { recursive: true })
  })
  const tcpUri = async () => {
    await once(remote.listen(0, '127.0.0.1'), 'listening')
    return `test+tcp://127.0.0.1:${(remote.address() as AddressInfo).port}/default`
  }
  return { uri: `test+unix:///default?socket=${path}`, tcpUri, peers }
}
