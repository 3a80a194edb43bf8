// One pass at a time for each Eviction in this process, and the short waits between passes. Best effort: if the process dies, the tick comes back.
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'

export interface Follower {
  /** A pass that begins after this call; callers that come while one waits to begin share it. */
  pass(name: string): Promise<void>
  /** EV-13: an event told that a move of the server ended; passes follow at growing distances until Nova agrees. */
  hint(name: string, server: string): Promise<void>
  close(): Promise<void>
}

export interface Followed {
  /** servers whose move Nova still shows as under way */
  moving: ReadonlySet<string>
  /** when it is worth looking again */
  nextCheckMs: number | undefined
  /** how many moves may end before a lane is idle: as many as wait in Nova's own queue (EV-16), or all when nobody waits */
  reserve: number
}

export interface FollowOptions {
  run: (name: string) => Promise<Followed>
  log: Pick<Logger, 'warn'>
  /** waits longer than this are left to the tick */
  longestMs?: number
  /** how long an end may go unlooked at while Nova's own queue keeps the lanes busy */
  unhurriedMs?: number
}

const rereadsMs = [250, 500, 1000, 2000, 4000]
/** Moves that end one after the other share a pass: each costs two lists. */
const spacingMs = 600
/** Whoever told of an end waits for its pass: the broker's patience is not used up by a slow Nova. */
const patienceMs = 10_000

interface Track {
  running: boolean
  waiting: PromiseWithResolvers<void> | undefined
  timer: NodeJS.Timeout | undefined
  dueMs: number
  /** servers that an event told about, and how often Nova was asked since */
  hints: Map<string, number>
  /** somebody asked for a pass at once, and not after a short wait */
  urgent: boolean
}

/** The last pass over an Eviction, as far as it says how soon the next is wanted. */
interface Last {
  begunMs: number
  /** a slow Nova is not made slower by listing it all the time */
  tookMs: number
  reserve: number
  /** servers whose end was told since */
  heard: Set<string>
}

export function createFollower({ run, log, longestMs = 9000, unhurriedMs = 1200 }: FollowOptions): Follower {
  const tracks = new Map<string, Track>()
  const lasts = new LRUCache<string, Last>({ max: 1000 })
  const running = new Set<Promise<void>>()
  let closed = false

  const trackOf = (name: string): Track => {
    const known = tracks.get(name)
    if (known) return known
    const track: Track = {
      running: false,
      waiting: undefined,
      timer: undefined,
      dueMs: Number.POSITIVE_INFINITY,
      hints: new Map(),
      urgent: false
    }
    tracks.set(name, track)
    return track
  }

  function pass(name: string): Promise<void> {
    const track = trackOf(name)
    track.waiting ??= Promise.withResolvers<void>()
    const { promise } = track.waiting
    track.urgent = true
    if (!track.running) begin(name, track)
    return promise
  }

  function begin(name: string, track: Track): void {
    const { waiting } = track
    if (!waiting || closed) return waiting?.resolve()
    track.waiting = undefined
    track.urgent = false
    track.running = true
    lasts.set(name, { begunMs: performance.now(), tookMs: 0, reserve: 0, heard: new Set() })
    stopTimer(track)
    const done = once(name, track).then(waiting.resolve, waiting.reject)
    running.add(done)
    void done.finally(() => {
      running.delete(done)
      track.running = false
      if (track.waiting && (track.urgent || track.timer === undefined)) begin(name, track)
      else if (track.timer === undefined) tracks.delete(name)
    })
  }

  async function once(name: string, track: Track): Promise<void> {
    const { moving, nextCheckMs, reserve } = await run(name)
    const last = lasts.get(name)
    if (last) Object.assign(last, { reserve, tookMs: performance.now() - last.begunMs })
    const waits = nextCheckMs === undefined || nextCheckMs > longestMs ? [] : [nextCheckMs]
    for (const [server, asked] of track.hints) {
      const wait = moving.has(server) ? rereadsMs[asked] : undefined
      if (wait === undefined) track.hints.delete(server)
      else {
        track.hints.set(server, asked + 1)
        // no lane is idle while Nova has not agreed: it is not listed over and over for the news alone
        waits.push(last && track.hints.size <= reserve ? Math.max(wait, restOf(last)) : wait)
      }
    }
    if (waits.length > 0) later(name, track, Math.min(...waits))
  }

  /** The nearest wish wins; a pass answers all of them. */
  function later(name: string, track: Track, ms: number): void {
    const dueMs = performance.now() + ms
    if (closed || (track.timer !== undefined && track.dueMs <= dueMs)) return
    stopTimer(track)
    track.dueMs = dueMs
    track.timer = setTimeout(() => {
      track.timer = undefined
      pass(name).catch((err: unknown) => log.warn({ err, eviction: name }, 'a look in between failed; the tick comes back'))
    }, ms)
  }

  /** Nova learns of it a little later than the agent, and events come in bursts. */
  function soon(name: string, server: string): number {
    const last = lasts.get(name)
    if (!last) return rereadsMs[0] ?? 0
    last.heard.add(server)
    return Math.max(rereadsMs[0] ?? 0, restOf(last))
  }

  const restOf = (last: Last): number => last.begunMs + gapAfter(last) - performance.now()

  /** No lane is idle while the reserve lasts: what was heard is then only news for the status. */
  function gapAfter({ heard, reserve, tookMs }: Last): number {
    if (heard.size > reserve) return spacingMs
    return reserve === Infinity ? Math.max(unhurriedMs, Math.min(4 * tookMs, patienceMs)) : unhurriedMs
  }

  function stopTimer(track: Track): void {
    clearTimeout(track.timer)
    track.timer = undefined
    track.dueMs = Number.POSITIVE_INFINITY
  }

  return {
    pass,
    hint(name, server) {
      const track = trackOf(name)
      track.hints.set(server, 1)
      track.waiting ??= Promise.withResolvers<void>()
      later(name, track, soon(name, server))
      return track.waiting.promise
    },
    async close() {
      closed = true
      for (const track of tracks.values()) {
        stopTimer(track)
        track.waiting?.resolve()
      }
      await Promise.allSettled(running)
    }
  }
}
