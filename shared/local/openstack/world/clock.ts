// The fake's time: real by default, or moved by hand, so that an hour of moves takes no time at all.

export interface WorldClock {
  now(): number
  /** Runs once; the returned function takes it back. */
  after(ms: number, run: () => void): () => void
}

export const realClock: WorldClock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms)
    timer.unref()
    return () => clearTimeout(timer)
  }
}

export interface ManualClock extends WorldClock {
  /** Runs everything that falls due, in order, including what is newly planned meanwhile. */
  advance(ms: number): void
}

export function manualClock(startMs = Date.parse('2026-01-01T00:00:00Z')): ManualClock {
  let nowMs = startMs
  const plans = new Set<{ atMs: number; run: () => void }>()
  return {
    now: () => nowMs,
    after(ms, run) {
      const plan = { atMs: nowMs + ms, run }
      plans.add(plan)
      return () => plans.delete(plan)
    },
    advance(ms) {
      const endMs = nowMs + ms
      for (;;) {
        const due = [...plans].filter(plan => plan.atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0]
        if (!due) break
        plans.delete(due)
        nowMs = due.atMs
        due.run()
      }
      nowMs = endMs
    }
  }
}
