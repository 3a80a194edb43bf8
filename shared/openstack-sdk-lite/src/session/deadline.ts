// The time that one call may take in all, tokens, waits and repeats included.
import { OpenStackError } from '../error.ts'
import type { Deadline } from './retry.ts'

export interface RunningDeadline extends Deadline {
  end(): void
}

export function startDeadline(call: string, timeoutMs: number, atMs: number, caller?: AbortSignal): RunningDeadline {
  const controller = new AbortController()
  const timer = setTimeout(
    () => controller.abort(new OpenStackError('TimedOut', `no answer within ${timeoutMs} ms`, { call })),
    timeoutMs
  )
  const give = (): void => controller.abort(new OpenStackError('Aborted', 'the caller gave up', { call, cause: caller?.reason }))
  if (caller?.aborted) give()
  else caller?.addEventListener('abort', give, { once: true })
  return {
    atMs,
    signal: controller.signal,
    end() {
      clearTimeout(timer)
      caller?.removeEventListener('abort', give)
    }
  }
}

/** Waits for something shared with other callers without tying it to this caller's deadline. */
export function within<T>(shared: Promise<T>, { signal }: Deadline): Promise<T> {
  return new Promise((resolve, reject) => {
    const give = (): void => reject(signal.reason)
    if (signal.aborted) give()
    signal.addEventListener('abort', give, { once: true })
    void shared.then(resolve, reject).then(() => signal.removeEventListener('abort', give))
  })
}
