// The three statistics that are read (OV-21). There is no encoder for anything that would change a switch.
import { OpenFlowError } from './openflow-frames.ts'

export type Aggregate = { readonly packets: bigint; readonly bytes: bigint; readonly flows: number }
export type TableFlows = { readonly table: number; readonly flows: number }
export type PortCounters = {
  readonly port: number
  readonly rxPackets: bigint
  readonly txPackets: bigint
  readonly rxBytes: bigint
  readonly txBytes: bigint
  readonly drops: bigint
  readonly errors: bigint
}

/** One multipart request: its number, its body, and how its joined reply is read. */
export type Question<T> = { readonly number: number; readonly body: Buffer; readonly decode: (reply: Buffer) => T }

const anyPort = 0xffff_ffff

function aggregateBody(): Buffer {
  const body = Buffer.alloc(40)
  body.writeUInt8(0xff, 0) // every table
  body.writeUInt32BE(anyPort, 4)
  body.writeUInt32BE(anyPort, 8) // any group
  body.writeUInt16BE(1, 32) // an empty OXM match: four bytes, padded to eight
  body.writeUInt16BE(4, 34)
  return body
}

function portBody(): Buffer {
  const body = Buffer.alloc(8)
  body.writeUInt32BE(anyPort, 0)
  return body
}

function entries<T>(reply: Buffer, size: number, read: (entry: Buffer) => T): T[] {
  if (reply.length % size !== 0) throw new OpenFlowError('protocol', `statistics of ${reply.length} bytes`)
  return Array.from({ length: reply.length / size }, (_, at) => read(reply.subarray(at * size, (at + 1) * size)))
}

// OFPMP_AGGREGATE (2): table_id u8, pad 3, out_port u32, out_group u32, pad 4, cookie u64, mask u64, match
//   -> packets u64, bytes u64, flows u32, pad 4
export const aggregate: Question<Aggregate> = {
  number: 2,
  body: aggregateBody(),
  decode: reply => {
    if (reply.length < 20) throw new OpenFlowError('protocol', 'aggregate statistics too short')
    return { packets: reply.readBigUInt64BE(0), bytes: reply.readBigUInt64BE(8), flows: reply.readUInt32BE(16) }
  }
}

// OFPMP_TABLE (3): -> table_id u8, pad 3, active u32, lookups u64, matched u64
export const tables: Question<TableFlows[]> = {
  number: 3,
  body: Buffer.alloc(0),
  decode: reply => entries(reply, 24, entry => ({ table: entry.readUInt8(0), flows: entry.readUInt32BE(4) }))
}

// OFPMP_PORT_STATS (4): port u32, pad 4 -> port u32, pad 4, twelve counters u64, duration u32 u32
export const ports: Question<PortCounters[]> = {
  number: 4,
  body: portBody(),
  decode: reply =>
    entries(reply, 112, entry => {
      const counter = (at: number) => entry.readBigUInt64BE(8 + 8 * at)
      return {
        port: entry.readUInt32BE(0),
        rxPackets: counter(0),
        txPackets: counter(1),
        rxBytes: counter(2),
        txBytes: counter(3),
        drops: counter(4) + counter(5),
        errors: counter(6) + counter(7)
      }
    })
}
