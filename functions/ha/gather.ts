// The first thing that is told of a host goes on at once; what follows within a moment goes on together, in the order it came. A write of a
// large object costs its server far more than a word more in it (HA-17).
export interface Gather<T> {
  /** Settles as the work does that took them. */
  add: (key: string, items: readonly T[]) => Promise<void>
  /** What waits goes on now. */
  flush: (key: string) => void
  close: () => void
}

interface Batch<T> {
  items: T[]
  done: PromiseWithResolvers<void>
  timer: NodeJS.Timeout | undefined
}

export function gather<T>(gapMs: number, work: (key: string, items: readonly T[]) => Promise<void>): Gather<T> {
  const open = new Map<string, Batch<T>>()
  const begun = new Map<string, number>()

  function flush(key: string): void {
    const batch = open.get(key)
    if (!batch) return
    open.delete(key)
    clearTimeout(batch.timer)
    begun.set(key, performance.now())
    work(key, batch.items).then(batch.done.resolve, batch.done.reject)
  }

  function opened(key: string): Batch<T> {
    const batch: Batch<T> = { items: [], done: Promise.withResolvers(), timer: undefined }
    open.set(key, batch)
    const leftMs = (begun.get(key) ?? -gapMs) + gapMs - performance.now()
    if (leftMs > 0) batch.timer = setTimeout(() => flush(key), leftMs)
    return batch
  }

  return {
    add(key, items) {
      const batch = open.get(key) ?? opened(key)
      batch.items.push(...items)
      if (batch.timer === undefined) flush(key)
      return batch.done.promise
    },
    flush,
    close: () => [...open.keys()].forEach(flush)
  }
}
