// One frame: u32 length (counts itself), six words of header, XDR body (libvirt: virnetprotocol.x, struct virNetMessageHeader)
import type { Writer } from './xdr/writer.ts'

export const REMOTE_PROGRAM = 0x2000_8086
export const KEEPALIVE_PROGRAM = 0x6b65_6570 // "keep"
export const PROTOCOL_VERSION = 1

export const HEADER_BYTES = 28
export const MAX_FRAME_BYTES = 4 + 33_554_432 // the length word, and VIR_NET_MESSAGE_MAX

export const MESSAGE_TYPE = { call: 0, reply: 1, message: 2, stream: 3 } as const
export const MESSAGE_STATUS = { ok: 0, error: 1, continue: 2 } as const

export interface Header {
  readonly program: number
  readonly version: number
  readonly procedure: number
  readonly type: number
  readonly serial: number
  readonly status: number
}

/** Of a whole frame, as the framer gives it. */
export function readHeader(frame: Buffer): Header {
  return {
    program: frame.readUInt32BE(4),
    version: frame.readUInt32BE(8),
    procedure: frame.readInt32BE(12),
    type: frame.readInt32BE(16),
    serial: frame.readUInt32BE(20),
    status: frame.readInt32BE(24)
  }
}

export interface Outgoing {
  readonly program: number
  readonly procedure: number
  readonly type: number
  readonly serial: number
  readonly status?: number
}

export function writeFrame(w: Writer, head: Outgoing, writeBody?: () => void): Buffer<ArrayBuffer> {
  w.reset() // a body that could not be written leaves its beginning behind
  w.uint(0)
    .uint(head.program)
    .uint(PROTOCOL_VERSION)
    .int(head.procedure)
    .int(head.type)
    .uint(head.serial)
    .int(head.status ?? 0)
  writeBody?.()
  const frame = w.take()
  frame.writeUInt32BE(frame.length, 0)
  return frame
}
