// pcapng (draft-ietf-opsawg-pcapng): a section header, one interface for each port, one enhanced packet block for each sample.
import type { Sample } from './sflow.ts'

const sectionHeader = 0x0a0d0d0a
const interfaceDescription = 1
const enhancedPacket = 6
const ethernet = 1

const padded = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)])

function block(type: number, body: Buffer): Buffer {
  const length = 12 + body.length
  const frame = Buffer.alloc(length)
  frame.writeUInt32LE(type, 0)
  frame.writeUInt32LE(length, 4)
  body.copy(frame, 8)
  frame.writeUInt32LE(length, length - 4)
  return frame
}

function option(code: number, value: Buffer): Buffer {
  const head = Buffer.alloc(4)
  head.writeUInt16LE(code, 0)
  head.writeUInt16LE(value.length, 2)
  return Buffer.concat([head, padded(value)])
}
const endOfOptions = Buffer.alloc(4)

export function section(application: string): Buffer {
  const head = Buffer.alloc(16)
  head.writeUInt32LE(0x1a2b3c4d, 0) // tells the byte order
  head.writeUInt16LE(1, 4) // version 1.0
  head.writeBigInt64LE(-1n, 8) // length not known beforehand
  return block(sectionHeader, Buffer.concat([head, option(4, Buffer.from(application)), endOfOptions]))
}

export function interfaceBlock(name: string, snapBytes: number): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt16LE(ethernet, 0)
  head.writeUInt32LE(snapBytes, 4)
  return block(interfaceDescription, Buffer.concat([head, option(2, Buffer.from(name)), endOfOptions]))
}

/** Times are microseconds, the default resolution. sFlow brings none, so it is the time of arrival. */
export function packetBlock(at: number, { header, frameBytes }: Sample, interfaceId: number): Buffer {
  const micros = BigInt(Math.round(at * 1000))
  const head = Buffer.alloc(20)
  head.writeUInt32LE(interfaceId, 0)
  head.writeUInt32LE(Number(micros >> 32n), 4)
  head.writeUInt32LE(Number(micros & 0xffff_ffffn), 8)
  head.writeUInt32LE(header.length, 12)
  head.writeUInt32LE(Math.max(frameBytes, header.length), 16)
  return block(enhancedPacket, Buffer.concat([head, padded(header)]))
}
