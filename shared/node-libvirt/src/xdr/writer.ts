// XDR (RFC 4506), the encoding half: everything is big-endian and takes a multiple of four bytes
import { LibvirtError } from '../errors.ts'

const INITIAL_BYTES = 1024
const MAX_STRING_BYTES = 4_194_304 // REMOTE_STRING_MAX

export class Writer {
  #bytes = Buffer.allocUnsafe(INITIAL_BYTES)
  #at = 0

  int(value: number): this {
    this.#reserve(4)
    if (!Number.isInteger(value) || value < -0x8000_0000 || value > 0x7fff_ffff) throw unfit('int', value)
    this.#at = this.#bytes.writeInt32BE(value, this.#at)
    return this
  }

  uint(value: number): this {
    this.#reserve(4)
    if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff) throw unfit('unsigned int', value)
    this.#at = this.#bytes.writeUInt32BE(value, this.#at)
    return this
  }

  hyper(value: bigint): this {
    this.#reserve(8)
    if (BigInt.asIntN(64, value) !== value) throw unfit('hyper', value)
    this.#at = this.#bytes.writeBigInt64BE(value, this.#at)
    return this
  }

  uhyper(value: bigint): this {
    this.#reserve(8)
    if (BigInt.asUintN(64, value) !== value) throw unfit('unsigned hyper', value)
    this.#at = this.#bytes.writeBigUInt64BE(value, this.#at)
    return this
  }

  double(value: number): this {
    this.#reserve(8)
    this.#at = this.#bytes.writeDoubleBE(value, this.#at)
    return this
  }

  bool(value: boolean): this {
    return this.int(value ? 1 : 0)
  }

  string(value: string): this {
    const size = Buffer.byteLength(value)
    if (size > MAX_STRING_BYTES) throw unfit('string', `${size} bytes`)
    this.uint(size)
    this.#reserve(size + 3)
    this.#at += this.#bytes.write(value, this.#at)
    return this.#pad(size)
  }

  /** Variable-length opaque data: with its length. */
  opaque(value: Uint8Array): this {
    return this.uint(value.length).fixed(value)
  }

  /** Fixed-length opaque data: without. */
  fixed(value: Uint8Array): this {
    this.#reserve(value.length + 3)
    this.#bytes.set(value, this.#at)
    this.#at += value.length
    return this.#pad(value.length)
  }

  /** A pointer: a word 0 for null, else 1 and the value. */
  optional<T>(value: T | null | undefined, write: (value: T) => unknown): this {
    if (value === null || value === undefined) return this.uint(0)
    this.uint(1)
    write(value)
    return this
  }

  list<T>(values: readonly T[], write: (value: T) => unknown): this {
    this.uint(values.length)
    for (const value of values) write(value)
    return this
  }

  /** What was written since the last call, as bytes of its own; the writer is empty afterwards. */
  take(): Buffer<ArrayBuffer> {
    const taken = Buffer.allocUnsafe(this.#at)
    this.#bytes.copy(taken, 0, 0, this.#at)
    this.reset()
    return taken
  }

  reset(): void {
    this.#at = 0
    if (this.#bytes.length > 64 * INITIAL_BYTES) this.#bytes = Buffer.allocUnsafe(INITIAL_BYTES) // one large call is no reason to stay large
  }

  #pad(size: number): this {
    for (let rest = -size & 3; rest > 0; rest--) this.#bytes[this.#at++] = 0
    return this
  }

  #reserve(size: number): void {
    if (this.#at + size <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#at + size))
    this.#bytes.copy(larger, 0, 0, this.#at)
    this.#bytes = larger
  }
}

function unfit(type: string, value: number | bigint | string): LibvirtError {
  return new LibvirtError('argument', `${value} does not fit an XDR ${type}`)
}
