// The management socket of a bridge: OpenFlow 1.3 (ONF TS-006), HELLO and the statistics of flows, tables and ports. Nothing can be set.
import type { Socket } from 'node:net'
import { listenAt, type Listener } from '../listen.ts'

const openFlow13 = 4
const headerBytes = 8
const type = { hello: 0, echoRequest: 2, echoReply: 3, multipartRequest: 18, multipartReply: 19 } as const
const statistics = { aggregate: 2, table: 3 } as const

export const startOpenFlow = (path: string, flows: () => number): Promise<Listener> =>
  listenAt(path, socket => serve(socket, flows))

function serve(socket: Socket, flows: () => number): void {
  let held: Buffer = Buffer.alloc(0)
  const say = (kind: number, xid: number, body: Buffer): void => {
    const head = Buffer.alloc(headerBytes)
    head.writeUInt8(openFlow13, 0)
    head.writeUInt8(kind, 1)
    head.writeUInt16BE(headerBytes + body.length, 2)
    head.writeUInt32BE(xid, 4)
    socket.write(Buffer.concat([head, body]))
  }
  say(type.hello, 0, Buffer.from([0, 1, 0, 8, 0, 0, 0, 1 << openFlow13])) // element 1: a bitmap of versions
  socket.on('data', chunk => {
    held = Buffer.concat([held, chunk])
    while (held.length >= headerBytes && held.length >= held.readUInt16BE(2)) {
      const length = Math.max(headerBytes, held.readUInt16BE(2))
      const [kind, xid, body] = [held.readUInt8(1), held.readUInt32BE(4), held.subarray(headerBytes, length)]
      held = held.subarray(length)
      if (kind === type.echoRequest) say(type.echoReply, xid, body)
      if (kind === type.multipartRequest) say(type.multipartReply, xid, answer(body.readUInt16BE(0), flows()))
    }
  })
}

function answer(number: number, flows: number): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt16BE(number, 0)
  if (number === statistics.aggregate) return Buffer.concat([head, aggregate(flows)])
  if (number === statistics.table) return Buffer.concat([head, tableStatistics(flows)])
  return head
}

// packets u64, bytes u64, flows u32, pad 4
function aggregate(flows: number): Buffer {
  const body = Buffer.alloc(24)
  body.writeBigUInt64BE(BigInt(flows) * 1000n, 0)
  body.writeBigUInt64BE(BigInt(flows) * 1_500_000n, 8)
  body.writeUInt32BE(flows, 16)
  return body
}

// of each table: table u8, pad 3, active u32, lookups u64, matched u64; all flows are in the first
function tableStatistics(flows: number): Buffer {
  const body = Buffer.alloc(24)
  body.writeUInt32BE(flows, 4)
  return body
}
