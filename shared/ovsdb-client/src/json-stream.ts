// OVSDB speaks JSON-RPC without delimiters (RFC 7047 §4): a message ends where its outermost brace closes. Bytes are scanned, not
// text: none of the ASCII bytes that matter occurs inside a multi-byte UTF-8 character, so a cut inside one does no harm.
import { isAscii } from 'node:buffer'
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

function firstBrace(chunk: Uint8Array, from: number): number {
  for (let at = from; at < chunk.length; at++) {
    const byte = chunk[at] as number
    if (byte === openBrace) return at
    if (!isSpace(byte))
      throw new OvsdbError('protocol', `a message must begin with a brace, not with byte 0x${byte.toString(16)}`)
  }
  return chunk.length
}

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
    const end = chunk.length
    let start = 0
    let at = 0
    while (at < end) {
      if (this.#depth === 0) {
        start = at = firstBrace(chunk, at)
        if (at === end) return complete
        this.#depth = 1
        at++
      }
      at = this.#scan(chunk, at)
      if (this.#depth === 0) complete.push(this.#finish(chunk.subarray(start, at)))
    }
    if (this.#depth > 0) this.#hold(chunk.subarray(start))
    return complete
  }

  /** To the end of the message or of the bytes. What is known is held in variables meanwhile: fields would cost more than all the rest. */
  #scan(chunk: Uint8Array, from: number): number {
    const end = chunk.length
    let depth = this.#depth
    let quoted = this.#quoted
    let digits = this.#digits
    let at = from
    while (at < end && depth > 0) {
      if (quoted) {
        at = this.#stringEnd(chunk, at)
        quoted = at > end
        continue
      }
      const byte = chunk[at++] as number
      if (byte >= 0x30 && byte <= 0x39) {
        if (++digits >= wideDigits) this.#wide = true
        continue
      }
      digits = 0
      if (byte === quote) quoted = true
      else if (byte === openBrace || byte === openBracket) {
        if (++depth > maxDepth) throw new OvsdbError('protocol', `message nested deeper than ${maxDepth}`)
      } else if (byte === closeBrace || byte === closeBracket) depth--
    }
    this.#depth = depth
    this.#quoted = quoted
    this.#digits = digits
    return at
  }

  /** Behind the closing quote, or beyond the end when it is not there yet. */
  #stringEnd(chunk: Uint8Array, from: number): number {
    const end = chunk.length
    let at = from
    if (this.#escaped) {
      this.#escaped = false
      at++
    }
    while (at < end) {
      const byte = chunk[at++]
      if (byte === quote) return at
      if (byte === backslash && at++ === end) this.#escaped = true
    }
    return end + 1
  }

  #hold(part: Uint8Array): void {
    this.#heldBytes += part.length
    if (this.#heldBytes > this.#maxBytes) throw new OvsdbError('too-large', `message longer than ${this.#maxBytes} bytes`)
    this.#held.push(part)
  }

  #finish(part: Uint8Array): JsonText {
    this.#hold(part)
    const { buffer, byteOffset, length } = part
    const bytes = this.#held.length === 1 ? Buffer.from(buffer, byteOffset, length) : Buffer.concat(this.#held, this.#heldBytes)
    const wide = this.#wide
    this.#held = []
    this.#heldBytes = 0
    this.#wide = false
    try {
      // plain ASCII, which almost all of it is, needs no decoding
      return { text: isAscii(bytes) ? bytes.toString('latin1') : this.#decoder.decode(bytes), wide }
    } catch (cause) {
      throw new OvsdbError('protocol', 'message is not UTF-8', { cause })
    }
  }
}
