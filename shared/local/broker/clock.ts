// Time comes in as an argument, so that tests run a schedule of minutes without waiting.

export interface Clock {
  /** Milliseconds since the epoch; the fraction counts. */
  now: () => number
  /** Calls once, later. The answer cancels it. */
  after: (ms: number, call: () => void) => () => void
}

export const systemClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  }
}

export interface StoppableClock extends Clock {
  /** Nothing that is still waiting will be called. */
  stop: () => void
}

export function stoppable(clock: Clock): StoppableClock {
  const waiting = new Set<() => void>()
  return {
    now: clock.now,
    after(ms, call) {
      const cancel = clock.after(ms, () => {
        waiting.delete(cancel)
        call()
      })
      waiting.add(cancel)
      return () => {
        waiting.delete(cancel)
        cancel()
      }
    },
    stop() {
      for (const cancel of waiting) cancel()
      waiting.clear()
    }
  }
}

let second = Number.NaN
let prefix = ''

/** RFC 3339 with nine digits, trailing zeros cut as Go does. */
export function rfc3339(ms: number): string {
  const whole = Math.floor(ms / 1000)
  if (whole !== second) {
    second = whole
    prefix = new Date(whole * 1000).toISOString().slice(0, 19)
  }
  const nanos = Math.floor((ms - whole * 1000) * 1e6)
  const fraction = String(nanos).padStart(9, '0').replace(/0+$/, '')
  return `${prefix}${fraction && `.${fraction}`}Z`
}
