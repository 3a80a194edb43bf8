// A new session each time the last one has ended
import { setTimeout as sleep } from 'node:timers/promises'
import type { Libvirt } from './client.ts'
import { LibvirtError } from './errors.ts'

export interface Backoff {
  readonly minMs: number
  readonly maxMs: number
  /** 0 to 1: how much of a delay is left to chance, so that a fleet does not come back all at once. */
  readonly jitter: number
}

export interface ReconnectingOptions {
  readonly backoff?: Backoff
  readonly signal?: AbortSignal
  /** Tells of each failed attempt; `failures` counts them since the last session. */
  readonly onFailure?: (error: LibvirtError, failures: number) => void
  /** Errors worth another attempt; else the generator throws them. */
  readonly shouldRetry?: (error: LibvirtError) => boolean
  readonly random?: () => number
  readonly wait?: (delayMs: number, signal: AbortSignal | undefined) => Promise<void>
}

type Session = Pick<Libvirt, 'close' | 'closed'>

/**
 * `for await (const virt of reconnecting(open)) { subscribe, list, listen }`: each turn of the loop is one connection. The next
 * turn begins when the body has ended; the connection is closed by then. Ends when the signal is aborted.
 */
export async function* reconnecting<S extends Session = Libvirt>(
  open: () => Promise<S>,
  options: ReconnectingOptions = {}
): AsyncGenerator<S, void, undefined> {
  const { backoff = { minMs: 100, maxMs: 5000, jitter: 0.2 }, signal, wait = pause, random = Math.random } = options
  const { shouldRetry = error => error.retryable, onFailure } = options
  const aborted = () => signal?.aborted ?? false
  let failures = 0
  while (!aborted()) {
    try {
      const session = await open()
      failures = 0
      try {
        yield session
      } finally {
        await session.close()
      }
    } catch (err) {
      if (aborted()) return
      if (!(err instanceof LibvirtError) || !shouldRetry(err)) throw err
      failures++
      onFailure?.(err, failures)
    }
    await wait(delayMs(backoff, failures, random()), signal)
  }
}

/** The first reconnection comes at once after minMs; each failure doubles the wait. */
export function delayMs({ minMs, maxMs, jitter }: Backoff, failures: number, random: number): number {
  const full = Math.min(maxMs, minMs * 2 ** Math.min(failures, 30))
  return full * (1 - jitter * random)
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, { signal })
  } catch (err) {
    if (!signal?.aborted) throw err
  }
}
