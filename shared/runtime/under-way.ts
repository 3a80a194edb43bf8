/** Counts what is under way, so that a stop can wait for it. */
export interface UnderWay {
  begun: () => void
  over: () => void
  /** Settles when nothing is. */
  idle: () => Promise<void>
}

export function underWay(): UnderWay {
  let count = 0
  let whenIdle: (() => void) | undefined
  return {
    begun: () => void count++,
    over() {
      if (--count === 0) whenIdle?.()
    },
    async idle() {
      if (count > 0) await new Promise<void>(resolve => (whenIdle = resolve))
    }
  }
}
