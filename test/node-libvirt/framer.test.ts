import * as fc from 'fast-check'
import t from 'tap'
import { Framer } from '../../shared/node-libvirt/src/framer.ts'

const frame = (size: number, fill = 0xab): Buffer => {
  const bytes = Buffer.alloc(size, fill)
  bytes.writeUInt32BE(size)
  return bytes
}

function framesOf(chunks: readonly Buffer[]): { frames: Buffer[]; pending: number } {
  const frames: Buffer[] = []
  const framer = new Framer(bytes => frames.push(Buffer.from(bytes)))
  for (const chunk of chunks) framer.push(chunk)
  return { frames, pending: framer.pending }
}

const three = [frame(28, 1), frame(64, 2), frame(28, 3)]
const stream = Buffer.concat(three)

t.test('cut in two at every byte', async t => {
  for (let at = 0; at <= stream.length; at++) {
    t.strictSame(framesOf([stream.subarray(0, at), stream.subarray(at)]).frames, three, `at ${at}`)
  }
})

t.test('cut in three at every pair of bytes', async t => {
  for (let a = 0; a <= stream.length; a++) {
    for (let b = a; b <= stream.length; b++) {
      const { frames } = framesOf([stream.subarray(0, a), stream.subarray(a, b), stream.subarray(b)])
      if (Buffer.compare(Buffer.concat(frames), stream) !== 0 || frames.length !== 3) t.fail(`at ${a} and ${b}`)
    }
  }
})

t.test('one byte at a time', async t => {
  t.strictSame(framesOf([...stream].map(byte => Buffer.of(byte))).frames, three)
})

t.test('any frames in any pieces', async t => {
  const sizes = fc.array(fc.integer({ min: 28, max: 5000 }), { maxLength: 20 })
  fc.assert(
    fc.property(sizes, fc.array(fc.integer({ min: 0, max: 3000 })), (sizes, pieces) => {
      const frames = sizes.map((size, at) => frame(size, at))
      const whole = Buffer.concat(frames)
      const chunks: Buffer[] = []
      let at = 0
      for (const piece of pieces) chunks.push(whole.subarray(at, (at += piece)))
      chunks.push(whole.subarray(at))
      t.strictSame(framesOf(chunks).frames, frames)
    })
  )
})

t.test('an unfinished frame is held', async t => {
  t.strictSame(framesOf([stream.subarray(0, 30)]), { frames: [three[0]], pending: 2 })
})

t.test('the caller may reuse its chunk', async t => {
  const chunk = Buffer.from(stream.subarray(0, 40))
  const frames: Buffer[] = []
  const framer = new Framer(bytes => frames.push(Buffer.from(bytes)))
  framer.push(chunk)
  chunk.fill(0)
  framer.push(stream.subarray(40))
  t.strictSame(frames, three)
})

t.test('a length outside the limits ends it, wherever the length is cut', async t => {
  for (const size of [0, 4, 27, 33_554_437, 0xffff_ffff]) {
    const bytes = Buffer.alloc(28)
    bytes.writeUInt32BE(size)
    for (let at = 0; at < 4; at++) {
      t.throws(
        () => framesOf([bytes.subarray(0, at), bytes.subarray(at)]),
        { code: 'protocol', retryable: true },
        `${size} cut at ${at}`
      )
    }
  }
})

t.test('the largest frame passes', async t => {
  const largest = frame(33_554_436)
  t.equal(framesOf([largest.subarray(0, 1000), largest.subarray(1000)]).frames[0]?.length, 33_554_436)
})
