const unitMs: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** Go's duration text, which the schema has checked. */
export function durationMs(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  return [...text.matchAll(/([\d.]+)(ns|us|µs|ms|s|m|h)/g)].reduce(
    (sum, [, amount, unit = '']) => sum + Number(amount) * (unitMs[unit] ?? 0),
    0
  )
}
