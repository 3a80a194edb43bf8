// Damaged frames, by a generator with a seed: the same ones each time
import { procedures as p } from 'node-libvirt'
import { LibvirtError } from '../../shared/node-libvirt/src/errors.ts'
import { decodeEvent, eventKindOf, eventKinds, eventRows } from '../../shared/node-libvirt/src/events/index.ts'
import { HEADER_BYTES, MESSAGE_TYPE, readHeader, REMOTE_PROGRAM, writeFrame } from '../../shared/node-libvirt/src/frame.ts'
import { Framer } from '../../shared/node-libvirt/src/framer.ts'
import { readServerError } from '../../shared/node-libvirt/src/server-error.ts'
import { Reader } from '../../shared/node-libvirt/src/xdr/reader.ts'
import { Writer } from '../../shared/node-libvirt/src/xdr/writer.ts'
import { byHand, recorded } from '../fixtures/node-libvirt/packets.ts'

interface Decodes {
  readonly number: number
  readonly decode: (r: Reader) => unknown
}
const isRow = (value: unknown): value is Decodes => typeof value === 'object' && value !== null && 'decode' in value
const rows = Object.values<unknown>(p).filter(isRow)
const replies = new Map(rows.map(row => [row.number, row.decode]))

/** xorshift32 */
function random(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

/** The recorded frames, and for each procedure and event one whose body is small numbers: most decoders get far into it. */
function corpus(): Buffer[] {
  const body = (w: Writer) => {
    for (let n = 0; n < 40; n++) w.uint([0, 1, 2, 1, 4, 0, 7, 3][n % 8] ?? 0)
  }
  const made = (procedure: number, type: number) => {
    const w = new Writer()
    return writeFrame(w, { program: REMOTE_PROGRAM, procedure, type, serial: 1 }, () => body(w))
  }
  return [
    ...Object.values(recorded),
    ...Object.values(byHand),
    ...rows.map(({ number }) => made(number, MESSAGE_TYPE.reply)),
    ...eventKinds.map(kind => made(eventRows[kind].number, MESSAGE_TYPE.message))
  ]
}

/** A few bytes flipped, words replaced by the values that hurt, the end cut off or something put in; the length is mostly right again. */
function mutate(frame: Buffer, pick: (below: number) => number): Buffer {
  const words = [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x0040_0001, 28, 4]
  let bytes = Buffer.from(frame)
  for (let times = 1 + pick(4); times > 0; times--) {
    const at = pick(bytes.length)
    const kind = pick(5)
    if (kind === 0) bytes[at] = pick(256)
    else if (kind === 1) bytes[at] = (bytes[at] ?? 0) ^ (1 << pick(8))
    else if (kind === 2) bytes.writeUInt32BE(words[pick(words.length)] ?? 0, Math.min(at & ~3, bytes.length - 4))
    else if (kind === 3) bytes = bytes.subarray(0, Math.max(HEADER_BYTES, at))
    else bytes = Buffer.concat([bytes.subarray(0, at), Buffer.alloc(4, pick(256)), bytes.subarray(at)])
  }
  if (pick(50) > 0) bytes.writeUInt32BE(bytes.length)
  return bytes
}

function decode(frame: Buffer): void {
  const { procedure, type, status } = readHeader(frame)
  const r = new Reader(frame, HEADER_BYTES)
  const kind = eventKindOf(procedure)
  if (type === MESSAGE_TYPE.message && kind) {
    r.int()
    decodeEvent(kind, r)
  } else if (status === 1) {
    readServerError(r)
  } else {
    replies.get(procedure)?.(r)
  }
}

/** How many were refused. Anything but a LibvirtError is thrown on, with the frame that did it. */
export function fuzz(count: number, seed: number): { refused: number } {
  const pick = random(seed)
  const frames = corpus()
  let refused = 0
  for (let n = 0; n < count; n++) {
    const frame = mutate(frames[pick(frames.length)] ?? recorded.ping, pick)
    try {
      new Framer(decode).push(frame)
    } catch (err) {
      if (!(err instanceof LibvirtError)) throw new Error(`frame ${n} of seed ${seed}: ${frame.toString('hex')}`, { cause: err })
      refused++
    }
  }
  return { refused }
}
