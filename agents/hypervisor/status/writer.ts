// Writes the status when something changed, not too often and not too seldom (NA-12)
import { isDeepStrictEqual } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { KubeError, type Kube } from '../../../shared/kube/index.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'

type Status = Partial<NonNullable<Hypervisor['status']>>

export interface WriterOptions {
  kube: Pick<Kube, 'applyStatus'>
  /** What should be there, given what is; undefined: nothing is known yet. */
  wanted: (live: Hypervisor) => Status
  /** At most one write in this time … */
  gapMs: number
  /** … and one after this time, for the heartbeat. */
  beatMs: number
  log: Logger
  signal: AbortSignal
}

export interface StatusWriter {
  /** The object as it is now; undefined: there is none (any more). */
  saw: (live: Hypervisor | undefined) => void
  /** Something that belongs in the status may have changed. */
  changed: () => void
  run: () => Promise<void>
}

/** Without the fields that only say "still alive": they are written along, or with the heartbeat. */
function steady({ agent, ...status }: Status): unknown {
  const { lastHeartbeat: _, sequence: __, uptimeSeconds: ___, ...rest } = agent ?? {}
  return { ...status, agent: rest }
}

export function statusWriter({ kube, wanted, gapMs, beatMs, log, signal }: WriterOptions): StatusWriter {
  let live: Hypervisor | undefined
  let written: unknown
  let last = 0
  let wake = Promise.withResolvers<void>()
  const notify = () => wake.resolve()
  const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => {}) // aborted: the loop ends

  async function write(object: Hypervisor): Promise<void> {
    const status = wanted(object)
    const due = performance.now() - last >= beatMs
    const content = steady(status)
    if (!due && isDeepStrictEqual(content, written)) return
    live = await kube.applyStatus(Hypervisor, { metadata: { name: object.metadata?.name ?? '' }, status }, { live: object })
    written = content
    last = performance.now()
  }

  return {
    saw(object) {
      const { uid, resourceVersion } = object?.metadata ?? {}
      const known = live?.metadata
      if (uid !== known?.uid) [written, last] = [undefined, 0]
      live = object
      // our own write comes back by the watch: nothing is to be said about it
      if (uid !== known?.uid || resourceVersion !== known?.resourceVersion) notify()
    },
    changed: notify,
    async run() {
      let failures = 0
      signal.addEventListener('abort', notify, { once: true })
      while (!signal.aborted) {
        const beat = new AbortController()
        const leftMs = Math.max(gapMs, last + beatMs - performance.now())
        await Promise.race([wake.promise, sleep(leftMs, undefined, { signal: beat.signal }).catch(() => {})])
        beat.abort()
        wake = Promise.withResolvers()
        if (live === undefined || signal.aborted) continue
        try {
          await write(live)
          failures = 0
        } catch (err) {
          if (!(err instanceof KubeError)) throw err
          failures += 1
          log.warn({ err, failures }, 'the status could not be written')
          await pause(Math.min(30_000, gapMs * 2 ** failures))
          notify()
        }
        await pause(gapMs)
      }
    }
  }
}
