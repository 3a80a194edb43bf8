// Time that passes as fast as the work in it is done: the timers and the date of the whole process, moved by hand. Everything that runs
// here, agents and functions and broker alike, waits by them; only sockets are real.
import { syncBuiltinESMExports } from 'node:module'
import { performance } from 'node:perf_hooks'
import { mock } from 'node:test'

const realTimeout = globalThis.setTimeout
const pause = (ms: number): Promise<void> => new Promise(resolve => realTimeout(resolve, ms))

export interface VirtualTime {
  /** Lets so much time pass, in steps; after each the work that it began is waited for. */
  advance(ms: number): Promise<void>
  /** Lets time pass until the condition holds. */
  until<T>(what: string, condition: () => Promise<T | undefined | false>, patienceMs: number): Promise<T>
  /** Lets time pass until the promise is settled. */
  during<T>(promise: Promise<T>): Promise<T>
  end(): void
}

export function startVirtualTime({ stepMs = 500 } = {}): VirtualTime {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: Date.now() })
  syncBuiltinESMExports() // named imports of node:timers/promises, too
  async function advance(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      mock.timers.tick(Math.min(stepMs, left))
      await settled()
    }
  }
  return {
    advance,
    async until(what, condition, patienceMs) {
      for (let left = patienceMs; ; left -= stepMs) {
        const found = await condition()
        if (found) return found
        if (left <= 0) throw new Error(`not within ${patienceMs / 1000} s of virtual time: ${what}`)
        await advance(stepMs)
      }
    },
    async during(promise) {
      let open = true
      const close = (): void => void (open = false)
      promise.then(close, close)
      while (open) await advance(stepMs)
      return promise
    },
    end() {
      mock.timers.reset()
      syncBuiltinESMExports()
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
