// How long a caller is willing to wait, and the one way in which anything here is waited for.
import { OvsdbError } from './error.ts'

export type Patience = { readonly signal?: AbortSignal | undefined; readonly timeoutMs?: number | undefined }

type Waiter = { ask(): void; fail(error: OvsdbError): void }

/** People who wait until something holds. They are asked anew at each `changed()`. */
export class Condition {
  readonly #waiters = new Set<Waiter>()
  #failure: OvsdbError | undefined

  changed(): void {
    for (const waiter of this.#waiters) waiter.ask()
  }

  /** From now on waiting is in vain. */
  fail(error: OvsdbError): void {
    this.#failure ??= error
    for (const waiter of this.#waiters) waiter.fail(this.#failure)
  }

  /** Resolves with the first answer that is neither undefined nor false. `blame` says what stood in the way when patience ends. */
  until<T>(answer: () => T | undefined | false, what: string, patience: Patience, blame?: () => unknown): Promise<T> {
    const { signal, timeoutMs } = patience
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        this.#waiters.delete(waiter)
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        act()
      }
      const waiter: Waiter = {
        ask: () => {
          try {
            const found = answer()
            if (found !== undefined && found !== false) settle(() => resolve(found))
          } catch (error) {
            settle(() => reject(error))
          }
        },
        fail: error => settle(() => reject(error))
      }
      const onAbort = () => waiter.fail(new OvsdbError('cancelled', `stopped waiting for ${what}`, { cause: signal?.reason }))
      const onTimeout = () => waiter.fail(new OvsdbError('timeout', `no ${what} within ${timeoutMs} ms`, { cause: blame?.() }))
      const timer = timeoutMs === undefined ? undefined : setTimeout(onTimeout, timeoutMs)
      this.#waiters.add(waiter)
      signal?.addEventListener('abort', onAbort)
      if (this.#failure) waiter.fail(this.#failure)
      else if (signal?.aborted) onAbort()
      else waiter.ask()
    })
  }
}
