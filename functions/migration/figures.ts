// Figures as the listing in use shows them: sizes in steps of 1024, Go's durations, rates. Pure.

const units = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** 0 B, 512 B, 10.4 MiB, 64.0 GiB */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${Math.round(bytes)} B`
  let value = bytes / 1024
  let at = 0
  // 1023.96 would be written as 1024.0
  while (value >= 1023.95 && at < units.length - 1) {
    value /= 1024
    at += 1
  }
  return `${value.toFixed(1)} ${units[at]}`
}

/** As Go prints a time.Duration: 35.078s, 1m2.5s, 2h0m0s, 350ms */
export function durationText(ms: number): string {
  if (ms < 1000) return ms === 0 ? '0s' : `${Math.round(ms)}ms`
  const hours = Math.floor(ms / 3_600_000)
  const minutes = Math.floor((ms % 3_600_000) / 60_000)
  const seconds = `${Number(((ms % 60_000) / 1000).toFixed(3))}s`
  if (hours > 0) return `${hours}h${minutes}m${seconds}`
  return minutes > 0 ? `${minutes}m${seconds}` : seconds
}
