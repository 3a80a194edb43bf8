// Ages as kubectl prints them: two units at most, coarser as they grow.
export function age(since: unknown, now: Date): string {
  if (typeof since !== 'string') return '<unknown>'
  const seconds = Math.floor((now.getTime() - Date.parse(since)) / 1000)
  if (Number.isNaN(seconds)) return '<unknown>'
  return humanDuration(Math.max(seconds, 0))
}

function humanDuration(seconds: number): string {
  const [minutes, hours] = [Math.floor(seconds / 60), Math.floor(seconds / 3600)]
  const days = Math.floor(hours / 24)
  const years = Math.floor(days / 365)
  const pair = (big: number, bigUnit: string, small: number, smallUnit: string): string =>
    small === 0 ? `${big}${bigUnit}` : `${big}${bigUnit}${small}${smallUnit}`
  if (seconds < 120) return `${seconds}s`
  if (minutes < 10) return pair(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  if (days < 8) return pair(days, 'd', hours % 24, 'h')
  if (years < 2) return `${days}d`
  return years < 8 ? pair(years, 'y', days % 365, 'd') : `${years}y`
}
