import { setTimeout as sleep } from 'node:timers/promises'

/** Waits for a condition; the deadline is for a test that has already failed. */
export async function until(condition: () => boolean | Promise<boolean>, withinMs = 10_000): Promise<void> {
  for (const deadline = Date.now() + withinMs; !(await condition()); await sleep(5)) {
    if (Date.now() > deadline) throw new Error(`not so after ${withinMs} ms: ${condition.toString()}`)
  }
}
