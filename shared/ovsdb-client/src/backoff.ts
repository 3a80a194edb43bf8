// Every remote is tried once without delay; then each round is spaced from the one before: 100 ms doubling to 1 s, jittered.
export type Backoff = { readonly firstMs: number; readonly maxMs: number }

export const defaultBackoff: Backoff = { firstMs: 100, maxMs: 1000 }

/** How long to wait before attempt number `attempt` (from 0) at one of `remotes` servers. */
export function waitMs(attempt: number, remotes: number, { firstMs, maxMs }: Backoff, random: () => number): number {
  const round = Math.floor(attempt / remotes)
  if (round === 0 || attempt % remotes !== 0) return 0
  const fullMs = Math.min(firstMs * 2 ** (round - 1), maxMs)
  return Math.round(fullMs * (0.5 + random() / 2)) // half of it at least, so that jitter never turns into a hot loop
}
