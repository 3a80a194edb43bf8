/** `3 min`, `2 h 5 min`, `4 days`: as a person would say it. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 90) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 90) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  return `${Math.round(hours / 24)} days`
}

export const since = (time: string, now: Date): string => span(now.getTime() - Date.parse(time))

export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
