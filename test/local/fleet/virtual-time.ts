// Time that passes as fast as the work in it is done: the timers and the date of the whole process, moved by hand. Everything that runs
// here, agents and functions and broker alike, waits by them; only sockets are real.
import { performance } from 'node:perf_hooks'
import { installTimers, realTimeout } from './virtual-timers.ts'

const pause = (ms: number): Promise<void> => new Promise(resolve => realTimeout(resolve, ms))

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
  async function advance(ms: number, step = stepMs): Promise<void> {
    for (let left = ms; left > 0; left -= step) {
      timers.tick(Math.min(step, left))
      await settled()
    }
  }
  /** What is waited for may itself wait for a timer: time passes meanwhile, once it has had a moment to be done at once. */
  async function during<T>(promise: Promise<T>): Promise<T> {
    const state = { open: true }
    const close = (): void => void (state.open = false)
    promise.then(close, close)
    await settled()
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
      timers.restore()
    }
  }
}

/** The event loop had nothing to do for most of two moments in a row: what is on sockets within this process was read. */
async function settled(): Promise<void> {
  for (let quiet = 0; quiet < 2;) {
    const before = performance.eventLoopUtilization()
    await pause(1)
    quiet = performance.eventLoopUtilization(before).utilization < 0.5 ? quiet + 1 : 0
  }
}
