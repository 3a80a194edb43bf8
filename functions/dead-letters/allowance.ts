/** Whether one more is allowed: so many a minute, and as many at once after a quiet one. */
export type Allowance = (now: Date) => boolean

export function allowance(aMinute: number): Allowance {
  let left = aMinute
  let at = 0
  return now => {
    left = Math.min(aMinute, left + ((now.getTime() - at) * aMinute) / 60_000)
    at = now.getTime()
    if (left < 1) return false
    left--
    return true
  }
}
