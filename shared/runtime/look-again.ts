// One look at a time for each name in this process, and the short waits between looks. Best effort: if the process dies, the tick comes back.
import type { Logger } from 'pino'

export interface LookAgain {
  /** A look that begins after this call; callers that come while one waits to begin share it. */
  now(name: string): Promise<void>
  /** One after so many milliseconds, if none comes before. */
  soon(name: string, ms: number): void
  /** Waits for the looks that have begun; those who wait for another are refused. */
  close(): Promise<void>
}

export interface LookAgainOptions {
  /** One look; after how many milliseconds the next is worth while, if at all. */
  look: (name: string) => Promise<number | undefined>
  log: Pick<Logger, 'warn'>
  /** Waits longer than this are left to the tick. */
  longestMs: number
}

interface Track {
  running: boolean
  waiting: PromiseWithResolvers<void> | undefined
  timer: NodeJS.Timeout | undefined
  dueMs: number
}

/** Whoever waits for a look that is not made must not take it for one: what told it is to be delivered again. */
const unseen = (name: string): Error => new Error(`${name} was not looked at: this process stops`)

export function lookAgain({ look, log, longestMs }: LookAgainOptions): LookAgain {
  const tracks = new Map<string, Track>()
  const running = new Set<Promise<void>>()
  let closed = false

  function trackOf(name: string): Track {
    const track = tracks.get(name) ?? { running: false, waiting: undefined, timer: undefined, dueMs: Number.POSITIVE_INFINITY }
    tracks.set(name, track)
    return track
  }

  function now(name: string): Promise<void> {
    const track = trackOf(name)
    track.waiting ??= Promise.withResolvers<void>()
    const { promise } = track.waiting
    if (!track.running) begin(name, track)
    return promise
  }

  function begin(name: string, track: Track): void {
    const { waiting } = track
    if (!waiting || closed) return waiting?.reject(unseen(name))
    track.waiting = undefined
    track.running = true
    stopTimer(track)
    const done = look(name)
      .then(ms => later(name, track, ms))
      .then(waiting.resolve, waiting.reject)
    running.add(done)
    void done.finally(() => {
      running.delete(done)
      track.running = false
      if (track.waiting) begin(name, track)
      else if (track.timer === undefined) tracks.delete(name)
    })
  }

  function stopTimer(track: Track): void {
    clearTimeout(track.timer)
    track.timer = undefined
    track.dueMs = Number.POSITIVE_INFINITY
  }

  /** The nearest wish wins; a look answers all of them. */
  function later(name: string, track: Track, ms: number | undefined): void {
    if (closed || ms === undefined || ms > longestMs) return
    const dueMs = performance.now() + ms
    if (track.dueMs <= dueMs) return
    stopTimer(track)
    track.dueMs = dueMs
    track.timer = setTimeout(
      () => {
        track.timer = undefined
        track.dueMs = Number.POSITIVE_INFINITY
        now(name).catch((err: unknown) => log.warn({ err, name }, 'a look in between failed; the tick comes back'))
      },
      Math.max(0, ms)
    )
  }

  return {
    now,
    soon(name, ms) {
      const track = trackOf(name)
      later(name, track, ms)
      if (track.timer === undefined && !track.running) tracks.delete(name)
    },
    async close() {
      closed = true
      for (const [name, { timer, waiting }] of tracks) {
        clearTimeout(timer)
        waiting?.reject(unseen(name))
      }
      await Promise.allSettled(running)
    }
  }
}
