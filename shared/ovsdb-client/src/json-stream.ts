// OVSDB speaks JSON-RPC without delimiters (RFC 7047 §4): a message ends where its outermost brace closes. Bytes are scanned, not
// text: none of the ASCII bytes that matter occurs inside a multi-byte UTF-8 character, so a cut inside one does no harm.
import { OvsdbError } from './error.ts'

export const maxMessageBytes = 32 * 1024 * 1024
const maxDepth = 1000 // ovsdb-server's own bound
const wideDigits = 16 // 2^53 has sixteen digits

const quote = 0x22
const backslash = 0x5c
const openBrace = 0x7b
const openBracket = 0x5b
const closeBrace = 0x7d
const closeBracket = 0x5d
const isSpace = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

/** One message; `wide` when it holds a number with so many digits that a JavaScript number might not keep them. */
export type JsonText = { readonly text: string; readonly wide: boolean }

export class JsonStream {
  readonly #maxBytes: number
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  #held: Uint8Array[] = []
  #heldBytes = 0
  #depth = 0
  #quoted = false
  #escaped = false
  #digits = 0
  #wide = false

  constructor(maxBytes: number = maxMessageBytes) {
    this.#maxBytes = maxBytes
  }

  /** Takes the next bytes, gives the messages they complete. After an error the stream is out of step and must not be used. */
  push(chunk: Uint8Array): JsonText[] {
    const complete: JsonText[] = []
    let start = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] as number
      if (this.#quoted) {
        this.#insideString(byte)
      } else if (this.#depth === 0) {
        if (byte === openBrace) {
          start = at
          this.#depth = 1
        } else if (!isSpace(byte)) {
          throw new OvsdbError('protocol', `a message must begin with a brace, not with byte 0x${byte.toString(16)}`)
        }
      } else if (this.#outsideString(byte)) {
        complete.push(this.#finish(chunk.subarray(start, at + 1)))
      }
    }
    if (this.#depth > 0) this.#hold(chunk.subarray(start))
    return complete
  }

  #insideString(byte: number): void {
    if (this.#escaped) this.#escaped = false
    else if (byte === backslash) this.#escaped = true
    else if (byte === quote) this.#quoted = false
  }

  /** True when this byte closes the message. */
  #outsideString(byte: number): boolean {
    if (byte >= 0x30 && byte <= 0x39) {
      if (++this.#digits >= wideDigits) this.#wide = true
      return false
    }
    this.#digits = 0
    if (byte === quote) this.#quoted = true
    else if (byte === openBrace || byte === openBracket) {
      if (++this.#depth > maxDepth) throw new OvsdbError('protocol', `message nested deeper than ${maxDepth}`)
    } else if (byte === closeBrace || byte === closeBracket) return --this.#depth === 0
    return false
  }

  #hold(part: Uint8Array): void {
    this.#heldBytes += part.length
    if (this.#heldBytes > this.#maxBytes) throw new OvsdbError('too-large', `message longer than ${this.#maxBytes} bytes`)
    this.#held.push(part)
  }

  #finish(part: Uint8Array): JsonText {
    this.#hold(part)
    const bytes = this.#held.length === 1 ? part : Buffer.concat(this.#held, this.#heldBytes)
    const wide = this.#wide
    this.#held = []
    this.#heldBytes = 0
    this.#wide = false
    try {
      return { text: this.#decoder.decode(bytes), wide }
    } catch (cause) {
      throw new OvsdbError('protocol', 'message is not UTF-8', { cause })
    }
  }
}
