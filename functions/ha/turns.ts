// So many at a time; whoever comes later waits, in order. What a look holds in memory is a whole host and its servers (HA-17).
export function turns(atOnce: number): <T>(run: () => Promise<T>) => Promise<T> {
  let free = atOnce
  const waiting: Array<() => void> = []
  return async run => {
    if (free > 0) free--
    else await new Promise<void>(resolve => void waiting.push(resolve))
    try {
      return await run()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }
}
