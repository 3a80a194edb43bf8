import type { Ref } from './deps.ts'

export type Coalesce = (ref: Ref, run: () => Promise<void>) => Promise<void>

/** Whoever asks while a run is under way shares the next one, which sees what they saw. */
export function coalesce(): Coalesce {
  const running = new Map<string, Promise<void>>()
  const waiting = new Map<string, Promise<void>>()
  return ({ namespace, name }, run) => {
    const key = `${namespace}/${name}`
    const start = (): Promise<void> => {
      const current = run().finally(() => running.delete(key))
      running.set(key, current)
      return current
    }
    const current = running.get(key)
    if (!current) return start()
    let next = waiting.get(key)
    if (!next) {
      next = current
        .catch(() => {}) // told to those who asked for it
        .then(() => {
          waiting.delete(key)
          return start()
        })
      waiting.set(key, next)
    }
    return next
  }
}
