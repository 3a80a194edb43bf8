import type { Kube } from './connect.ts'
import { KubeError } from './errors.ts'
import type { Claim } from './lease-claim.ts'
import { claimant } from './lease-claim.ts'
import type { Pace } from './retry.ts'
import { realPace } from './retry.ts'
import type { Log } from './transport.ts'

export interface LeaseOptions
  extends Pick<Claim, 'name' | 'namespace' | 'identity'>, Partial<Pick<Claim, 'durationMs' | 'now' | 'elapsed'>> {
  renewMs?: number
  signal: AbortSignal
  log?: Log
  pace?: Pace
}

export interface HeldLease {
  /** Ask before each act: it turns false by itself when renewals fail, before anybody else can take the lease. */
  readonly held: boolean
  /** The state now and whenever it turns, until the lease is given up. A slow reader gets the newest. */
  changes(): AsyncGenerator<boolean>
  /** After the signal, when the lease is released. */
  readonly ended: Promise<void>
}

/**
 * Tries to hold a lease until the signal, one holder at a time: who holds it stops a third of the duration before the others may take it, counted from
 * before its last renewal was sent.
 */
export function holdLease(kube: Kube, options: LeaseOptions): HeldLease {
  const { durationMs = 15_000, renewMs = 2_000, signal, log, pace = realPace } = options
  const { now = () => new Date(), elapsed = () => performance.now() } = options
  const { claim, release } = claimant(kube, { ...options, durationMs, now, elapsed })
  let heldUntil = -Infinity
  let expiry: NodeJS.Timeout | undefined
  let over = false
  let turn = Promise.withResolvers<void>()

  const isHeld = () => !signal.aborted && elapsed() < heldUntil
  const notify = () => {
    turn.resolve()
    turn = Promise.withResolvers()
  }

  const renew = async (): Promise<void> => {
    const startedAt = elapsed()
    if (!(await claim())) return
    heldUntil = startedAt + (durationMs * 2) / 3
    clearTimeout(expiry)
    expiry = setTimeout(notify, heldUntil - elapsed() + 1)
    notify()
  }

  const attempt = async (what: () => Promise<void>): Promise<void> => {
    try {
      await what()
    } catch (err) {
      if (!(err instanceof KubeError)) throw err
      const beaten = err.code === 'Conflict' || err.code === 'AlreadyExists'
      if (!beaten) log?.warn({ err, lease: options.name }, 'lease not written')
    }
  }

  const run = async (): Promise<void> => {
    signal.addEventListener('abort', notify, { once: true })
    try {
      while (!signal.aborted) {
        await attempt(renew)
        await pace.delay(renewMs * (0.9 + 0.2 * pace.random()), signal).catch(() => undefined) // ended by the signal
      }
      if (heldUntil > -Infinity) await attempt(release)
    } finally {
      clearTimeout(expiry)
      over = true
      notify()
    }
  }

  return {
    get held() {
      return isHeld()
    },
    async *changes() {
      let told: boolean | undefined
      while (true) {
        const next = turn.promise
        const held = isHeld()
        if (held !== told) yield (told = held)
        else if (over) return
        else await next
      }
    },
    ended: run()
  }
}
