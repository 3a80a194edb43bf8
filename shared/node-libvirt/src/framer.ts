// Chunks in, frames out. No socket, no decoding.
import { LibvirtError } from './errors.ts'
import { HEADER_BYTES, MAX_FRAME_BYTES } from './frame.ts'

/** A frame is only valid during the call: it may lie in the caller's chunk. */
export type OnFrame = (frame: Buffer) => void

export class Framer {
  #onFrame: OnFrame
  #held = Buffer.alloc(0) // room for the frame that is under way
  #filled = 0 // bytes of it that are here
  #size = 0 // bytes that it will have; 0 while its length word is incomplete

  constructor(onFrame: OnFrame) {
    this.#onFrame = onFrame
  }

  /** Bytes of an unfinished frame. */
  get pending(): number {
    return this.#filled
  }

  /** Throws on a length outside the limits: what follows cannot be understood any more. */
  push(chunk: Buffer): void {
    let at = 0
    if (this.#filled > 0) at = this.#resume(chunk)
    while (chunk.length - at >= 4) {
      const size = checked(chunk.readUInt32BE(at))
      if (chunk.length - at < size) return this.#hold(chunk, at, size)
      this.#onFrame(chunk.subarray(at, at + size))
      at += size
    }
    if (at < chunk.length) this.#hold(chunk, at, 0)
  }

  /** Goes on with the held frame and returns how far the chunk was used. */
  #resume(chunk: Buffer): number {
    let at = 0
    if (this.#size === 0) {
      at = this.#fill(chunk, 0, 4)
      if (this.#filled < 4) return at
      const length = this.#held.subarray(0, 4)
      this.#size = checked(length.readUInt32BE())
      this.#held = Buffer.allocUnsafe(this.#size)
      this.#held.set(length)
    }
    at = this.#fill(chunk, at, this.#size)
    if (this.#filled < this.#size) return at
    const frame = this.#held
    this.#held = Buffer.alloc(0)
    this.#filled = this.#size = 0
    this.#onFrame(frame)
    return at
  }

  #hold(chunk: Buffer, at: number, size: number): void {
    this.#size = size
    this.#held = Buffer.allocUnsafe(size || 4)
    this.#filled = 0
    this.#fill(chunk, at, size || 4)
  }

  #fill(chunk: Buffer, at: number, upTo: number): number {
    const copied = chunk.copy(this.#held, this.#filled, at, Math.min(chunk.length, at + upTo - this.#filled))
    this.#filled += copied
    return at + copied
  }
}

function checked(size: number): number {
  if (size >= HEADER_BYTES && size <= MAX_FRAME_BYTES) return size
  throw new LibvirtError('protocol', `a frame of ${size} bytes (${HEADER_BYTES} to ${MAX_FRAME_BYTES} are possible)`)
}
