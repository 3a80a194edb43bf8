// XDR (RFC 4506), the decoding half. Every length is checked against what is left before anything is allocated:
// a damaged frame costs an error, never memory. Strings and bytes are copied out, so the frame may be reused.
import { LibvirtError } from '../errors.ts'

export class Reader {
  #bytes: Buffer
  #at: number

  constructor(bytes: Buffer, from = 0) {
    this.#bytes = bytes
    this.#at = from
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  int(): number {
    return this.#bytes.readInt32BE(this.#step(4))
  }

  uint(): number {
    return this.#bytes.readUInt32BE(this.#step(4))
  }

  hyper(): bigint {
    return this.#bytes.readBigInt64BE(this.#step(8))
  }

  uhyper(): bigint {
    return this.#bytes.readBigUInt64BE(this.#step(8))
  }

  double(): number {
    return this.#bytes.readDoubleBE(this.#step(8))
  }

  bool(): boolean {
    return this.int() !== 0
  }

  string(): string {
    const size = this.uint()
    const from = this.#padded(size)
    return this.#bytes.toString('utf8', from, from + size)
  }

  opaque(): Buffer<ArrayBuffer> {
    return this.fixed(this.uint())
  }

  fixed(size: number): Buffer<ArrayBuffer> {
    const from = this.#padded(size)
    return Buffer.from(this.#bytes.subarray(from, from + size))
  }

  optional<T>(read: (r: this) => T): T | null {
    return this.uint() === 0 ? null : read(this)
  }

  /** `itemBytes` is the least that one item takes: it bounds the count by what is left. */
  list<T>(read: (r: this) => T, itemBytes = 4): T[] {
    const count = this.uint()
    if (count * itemBytes > this.left) throw damaged(`a list of ${count} items in ${this.left} bytes`)
    return Array.from({ length: count }, () => read(this))
  }

  end(): void {
    if (this.left > 0) throw damaged(`${this.left} bytes more than expected`)
  }

  #padded(size: number): number {
    return this.#step(size + (-size & 3))
  }

  #step(size: number): number {
    const from = this.#at
    if (size > this.#bytes.length - from) throw damaged(`${size} bytes wanted, ${this.left} left`)
    this.#at = from + size
    return from
  }
}

export function damaged(what: string): LibvirtError {
  return new LibvirtError('decode', `cannot be decoded: ${what}`)
}
