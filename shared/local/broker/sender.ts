// One request to one sink, over HTTP or in this process, within its time.
import type { Clock } from './clock.ts'
import { HttpClient, type Abort } from './http-client.ts'
import type { Answer, Deliver, Request } from './types.ts'
import type { Result } from './verdict.ts'

export interface Target {
  to: URL | Deliver
  /** What knativeerrordest says. */
  url: string
  /** For a function in this process; a URL has its own. */
  path: string
}

const TIMED_OUT = new Error('slower than delivery.timeout')

/** The broker is closing: the event stays in the journal. */
export class Closed extends Error {
  override name = 'Closed'
}

export class Sender {
  readonly #clock: Clock
  readonly #client = new HttpClient()
  readonly #underWay = new Set<AbortController>()
  #closed = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async send({ to }: Target, request: Request, timeoutMs?: number): Promise<Result> {
    if (this.#closed) throw new Closed()
    let abort: Abort | undefined
    let late = false
    const cancel =
      timeoutMs &&
      this.#clock.after(timeoutMs, () => {
        late = true
        abort?.(TIMED_OUT)
      })
    const started = (by: Abort): void => (late ? by(TIMED_OUT) : void (abort = by))
    try {
      return { answer: await (to instanceof URL ? this.#client.post(to, request, started) : this.#call(to, request, started)) }
    } catch (err) {
      if (this.#closed) throw new Closed()
      return { failed: late ? 'timeout' : 'unreachable', message: err instanceof Error ? err.message : String(err) }
    } finally {
      if (cancel) cancel()
    }
  }

  /** A function that ignores its signal must not outlast its time either. */
  #call(deliver: Deliver, request: Request, started: (abort: Abort) => void): Promise<Answer> {
    const abort = new AbortController()
    this.#underWay.add(abort)
    started(reason => abort.abort(reason))
    return new Promise<Answer>((resolve, reject) => {
      abort.signal.addEventListener('abort', () => reject(abort.signal.reason as Error), { once: true })
      deliver(request, abort.signal).then(resolve, reject)
    }).finally(() => this.#underWay.delete(abort))
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const abort of this.#underWay) abort.abort(new Closed())
    await this.#client.close()
  }
}
