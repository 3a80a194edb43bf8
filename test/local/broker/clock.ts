// A clock that a test moves by hand.
import type { Clock } from '../../../shared/local/broker/index.ts'

export interface ManualClock extends Clock {
  /** What was asked for, in order. */
  waits: number[]
  /** Calls what is due until then, in the order of time. */
  advance: (ms: number) => void
}

export function manualClock(start = Date.UTC(2026, 10, 16, 4, 56, 12)): ManualClock {
  let time = start
  let timers: Array<{ at: number; call: () => void }> = []
  return {
    waits: [],
    now: () => time,
    after(ms, call) {
      const timer = { at: time + ms, call }
      this.waits.push(ms)
      timers.push(timer)
      return () => {
        timers = timers.filter(other => other !== timer)
      }
    },
    advance(ms) {
      const end = time + ms
      for (let due; (due = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]);) {
        const { at, call } = due
        timers = timers.filter(other => other !== due)
        time = Math.max(time, at)
        call()
      }
      time = end
    }
  }
}

/** A clock whose every wait is over at once, though it is noted and time goes on. */
export function hurriedClock(start = 0): Clock & { waits: number[] } {
  let time = start
  const waits: number[] = []
  return {
    waits,
    now: () => time,
    after(ms, call) {
      waits.push(ms)
      const soon = setImmediate(() => {
        time += ms
        call()
      })
      return () => clearImmediate(soon)
    }
  }
}
