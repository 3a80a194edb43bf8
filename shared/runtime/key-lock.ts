/** Too much is waiting already; the sender is to come back later. */
export class Crowded extends Error {
  override name = 'Crowded'
}

export type KeyLock = <T>(key: string, task: () => Promise<T>) => Promise<T>

/**
 * Runs tasks of one key one after the other, in the order they came, and tasks of different keys at the same time.
 * At most `maxWaiting` tasks wait, over all keys: a broker that retries is a better queue than this process's memory.
 */
export function keyLock({ maxWaiting = 1000 }: { maxWaiting?: number } = {}): KeyLock {
  const queues = new Map<string, Array<() => void>>()
  let waiting = 0

  return async (key, task) => {
    const queue = queues.get(key)
    if (queue === undefined) {
      queues.set(key, [])
    } else {
      if (waiting >= maxWaiting) throw new Crowded(`${waiting} events are waiting already`)
      waiting++
      await new Promise<void>(resolve => queue.push(resolve))
      waiting--
    }
    try {
      return await task()
    } finally {
      const next = queues.get(key)?.shift()
      if (next) next()
      else queues.delete(key)
    }
  }
}
