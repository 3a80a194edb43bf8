import { LRUCache } from 'lru-cache'
import { Refusal } from './refusal.ts'

const perMinute = 10
const atATime = { trace: 2, dump: 1, brief: 8 }
export type Weight = keyof typeof atATime

export interface Limits {
  /** One more request of this user. */
  count(user: string): void
  /** Runs it if there is a free place. */
  within<T>(weight: Weight, task: () => Promise<T>): Promise<T>
}

/** OV-59 */
export function limits(now: () => number): Limits {
  const requests = new LRUCache<string, number[]>({ max: 1000 })
  const running = { trace: 0, dump: 0, brief: 0 }
  return {
    count(user) {
      const recent = (requests.get(user) ?? []).filter(at => now() - at < 60_000)
      if (recent.length >= perMinute) throw new Refusal(429, `more than ${perMinute} requests within a minute`)
      requests.set(user, [...recent, now()])
    },
    async within(weight, task) {
      if (running[weight] >= atATime[weight]) throw new Refusal(409, `${running[weight]} such requests are under way already`)
      running[weight]++
      try {
        return await task()
      } finally {
        running[weight]--
      }
    }
  }
}
