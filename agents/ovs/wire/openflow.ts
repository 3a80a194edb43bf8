// Asks one bridge for statistics over its management socket: HELLO both ways, multipart requests, and goodbye.
import { connect } from 'node:net'
import { type Frame, FrameSplitter, OpenFlowError, openFlow13, writeFrame } from './openflow-frames.ts'
import type { Question } from './openflow-statistics.ts'

const hello = 0
const error = 1
const echoRequest = 2
const echoReply = 3
const multipartRequest = 18
const multipartReply = 19
const morePartsFollow = 1
const maxJoinedBytes = 16 * 1024 * 1024

// OFPT_HELLO with a version bitmap: element type 1, length 8, bit 4 = OpenFlow 1.3 and nothing else
const ourHello = writeFrame(hello, 0, Buffer.from([0, 1, 0, 8, 0, 0, 0, 1 << openFlow13]))

export type Answers<Q extends readonly Question<unknown>[]> = {
  -readonly [K in keyof Q]: Q[K] extends Question<infer T> ? T : never
}

/** The answers in the order of the questions, over one connection. */
export function readStatistics<const Q extends readonly Question<unknown>[]>(
  path: string,
  questions: Q,
  timeoutMs = 5000
): Promise<Answers<Q>> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path })
    const conversation = new Conversation(questions, bytes => socket.write(bytes))
    const settle = (act: () => void) => {
      clearTimeout(timer)
      socket.destroy()
      act()
    }
    const fail = (error: OpenFlowError) => settle(() => reject(error))
    const timer = setTimeout(() => fail(new OpenFlowError('timeout', `no statistics within ${timeoutMs} ms`)), timeoutMs)
    socket.on('error', cause => fail(new OpenFlowError('not-running', `nobody answers at ${path}`, cause)))
    socket.on('close', () => fail(conversation.hungUp(path)))
    socket.on('data', chunk => {
      try {
        const answers = conversation.hear(chunk)
        if (answers) settle(() => resolve(answers as Answers<Q>))
      } catch (cause) {
        fail(cause instanceof OpenFlowError ? cause : new OpenFlowError('protocol', 'statistics that make no sense', cause))
      }
    })
    socket.write(ourHello)
  })
}

/** The protocol without the socket. */
export class Conversation {
  readonly #splitter = new FrameSplitter()
  readonly #questions: readonly Question<unknown>[]
  readonly #say: (bytes: Buffer) => void
  readonly #parts: Buffer[][]
  readonly #answers: unknown[]
  #open: number
  #greeted = false

  constructor(questions: readonly Question<unknown>[], say: (bytes: Buffer) => void) {
    this.#questions = questions
    this.#say = say
    this.#parts = questions.map(() => [])
    this.#answers = questions.map(() => undefined)
    this.#open = questions.length
  }

  /** All answers, once the last has come. */
  hear(chunk: Buffer): unknown[] | undefined {
    for (const frame of this.#splitter.push(chunk)) this.#take(frame)
    return this.#open === 0 ? this.#answers : undefined
  }

  hungUp(path: string): OpenFlowError {
    return this.#greeted
      ? new OpenFlowError('not-running', `${path} was closed before the answer`)
      : new OpenFlowError('version', `${path} takes no OpenFlow 1.3`)
  }

  #take(frame: Frame): void {
    switch (frame.type) {
      case hello:
        return this.#greet(frame)
      case error:
        // OFPET_HELLO_FAILED is 0
        throw frame.body.length >= 2 && frame.body.readUInt16BE(0) === 0
          ? new OpenFlowError('version', 'the bridge takes no OpenFlow 1.3')
          : new OpenFlowError('rejected', `the bridge refused: ${frame.body.subarray(0, 4).toString('hex')}`)
      case echoRequest:
        return this.#say(writeFrame(echoReply, frame.xid, frame.body))
      case multipartReply:
        return this.#join(frame)
      default: // whatever else a bridge tells is not for us
    }
  }

  #greet({ version, body }: Frame): void {
    const bitmap = body.length >= 8 && body.readUInt16BE(0) === 1 ? body.readUInt32BE(4) : 0
    if (version < openFlow13 || (bitmap !== 0 && (bitmap & (1 << openFlow13)) === 0)) {
      throw new OpenFlowError('version', 'the bridge takes no OpenFlow 1.3')
    }
    this.#greeted = true
    for (const [at, { number, body: asked }] of this.#questions.entries()) {
      const head = Buffer.alloc(8)
      head.writeUInt16BE(number, 0)
      this.#say(writeFrame(multipartRequest, at + 1, Buffer.concat([head, asked])))
    }
  }

  #join({ xid, body }: Frame): void {
    const parts = this.#parts[xid - 1]
    const question = this.#questions[xid - 1]
    if (!parts || !question || body.length < 8 || body.readUInt16BE(0) !== question.number) {
      throw new OpenFlowError('protocol', 'an answer to a question that was not asked')
    }
    parts.push(body.subarray(8))
    if (parts.reduce((sum, part) => sum + part.length, 0) > maxJoinedBytes) {
      throw new OpenFlowError('protocol', `statistics of more than ${maxJoinedBytes} bytes`)
    }
    if (body.readUInt16BE(2) & morePartsFollow) return
    this.#answers[xid - 1] = question.decode(Buffer.concat(parts))
    this.#open--
  }
}
