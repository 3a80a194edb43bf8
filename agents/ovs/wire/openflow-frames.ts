// OpenFlow 1.3 (ONF TS-006): every message is a header of eight bytes (version, type, length, xid) and a body.

export type Frame = { readonly version: number; readonly type: number; readonly xid: number; readonly body: Buffer }

export class OpenFlowError extends Error {
  override readonly name = 'OpenFlowError'
  readonly code: 'version' | 'not-running' | 'timeout' | 'protocol' | 'rejected'
  readonly retryable: boolean
  constructor(code: OpenFlowError['code'], message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
    this.retryable = code === 'not-running' || code === 'timeout'
  }
}

const headerBytes = 8
export const openFlow13 = 4

/** Takes chunks, gives the frames they complete. A length is never more than 64 KiB, so what is held is bounded by itself. */
export class FrameSplitter {
  #held: Buffer = Buffer.alloc(0)

  push(chunk: Buffer): Frame[] {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    const frames: Frame[] = []
    while (this.#held.length >= headerBytes) {
      const length = this.#held.readUInt16BE(2)
      if (length < headerBytes) throw new OpenFlowError('protocol', `a message of ${length} bytes`)
      if (this.#held.length < length) break
      const body = this.#held.subarray(headerBytes, length)
      frames.push({ version: this.#held.readUInt8(0), type: this.#held.readUInt8(1), xid: this.#held.readUInt32BE(4), body })
      this.#held = this.#held.subarray(length)
    }
    return frames
  }
}

export function writeFrame(type: number, xid: number, body: Uint8Array = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(headerBytes)
  header.writeUInt8(openFlow13, 0)
  header.writeUInt8(type, 1)
  header.writeUInt16BE(headerBytes + body.length, 2)
  header.writeUInt32BE(xid, 4)
  return Buffer.concat([header, body])
}
