// Time that passes as fast as the work in it is done: the timers and the date of the whole process, moved by hand. Everything that runs
// here, agents and functions and broker alike, waits by them; only sockets are real.
import { watchPendingWork, type PendingWork } from './pending-work.ts'
import { installTimers, realNow } from './virtual-timers.ts'

/** Everything that can be read was read, and what it led to is done. */
const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

export interface VirtualTime {
  /** Lets so much time pass, in steps; after each the work that it began is waited for. */
  advance(ms: number, stepMs?: number): Promise<void>
  /** Lets time pass until the condition holds. */
  until<T>(what: string, condition: () => Promise<T | undefined | false>, patienceMs: number): Promise<T>
  /** Lets time pass until the promise is settled. */
  during<T>(promise: Promise<T>): Promise<T>
  end(): void
}

export function startVirtualTime({ stepMs = 500 } = {}): VirtualTime {
  const timers = installTimers(Date.now())
  const work = watchPendingWork()
  async function advance(ms: number, step = stepMs): Promise<void> {
    for (let left = ms; left > 0; left -= step) {
      timers.tick(Math.min(step, left))
      await settled(work)
    }
  }
  /** What is waited for may itself wait for a timer: time passes meanwhile, once it has had a moment to be done at once. */
  async function during<T>(promise: Promise<T>): Promise<T> {
    const state = { open: true }
    const close = (): void => void (state.open = false)
    promise.then(close, close)
    await settled(work)
    while (state.open) await advance(stepMs)
    return promise
  }
  return {
    advance,
    during,
    async until(what, condition, patienceMs) {
      for (const end = Date.now() + patienceMs; ; await advance(stepMs)) {
        const found = await during(condition())
        if (found) return found
        if (Date.now() >= end) throw new Error(`not within ${patienceMs / 1000} s of virtual time: ${what}`)
      }
    },
    end() {
      work.end()
      timers.restore()
    }
  }
}

/** A reader that does not read is a fault of the test, to be named, not waited for. */
const stuckMs = 60_000

/** Nothing is asked of the system or on its way, and two turns of the event loop in a row had nothing to read or write. */
async function settled(work: PendingWork): Promise<void> {
  const begunMs = realNow()
  for (let quiet = 0; quiet < 2;) {
    const before = work.traffic()
    await turn()
    const pending = work.now()
    quiet = pending === undefined && work.traffic() === before ? quiet + 1 : 0
    if (pending !== undefined && realNow() - begunMs > stuckMs) throw new Error(`does not come to an end: ${pending}`)
  }
}
