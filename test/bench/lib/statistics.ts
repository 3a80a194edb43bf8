const ascending = (values: readonly number[]): number[] => values.toSorted((a, b) => a - b)

/** Of an even number of values the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = ascending(values)
  const half = sorted.length / 2
  return ((sorted[Math.ceil(half) - 1] ?? Number.NaN) + (sorted[Math.floor(half)] ?? Number.NaN)) / 2
}

/** The value that at least so many per cent of the others do not exceed; of fewer than a hundred the 99th is the worst. */
export function percentile(values: readonly number[], p: number): number {
  return ascending(values)[Math.min(values.length - 1, Math.floor((values.length * p) / 100))] ?? Number.NaN
}

/** All of one round before the next begins, A B A B: what else the machine does meets every way alike. The runs of each way, in order. */
export async function alternate<Names extends string, T>(
  rounds: number,
  ways: Readonly<Record<Names, (round: number) => T | Promise<T>>>
): Promise<Record<Names, T[]>> {
  const all = Object.entries(ways) as Array<[Names, (round: number) => T | Promise<T>]>
  const runs = Object.fromEntries(all.map(([name]) => [name, [] as T[]])) as Record<Names, T[]>
  for (let round = 0; round < rounds; round++) for (const [name, way] of all) runs[name].push(await way(round))
  return runs
}
