/** The part of these that this process tries. The runner starts a file with `// shards: 8` once for each of 1/8 … 8/8; alone it tries all. */
export function ofThisShard<T>(all: readonly T[], shard = process.env['DROVER_SHARD'] ?? '1/1'): T[] {
  const [, which, count] = /^([1-9]\d*)\/([1-9]\d*)$/.exec(shard)?.map(Number) ?? []
  if (which === undefined || count === undefined || which > count)
    throw new Error(`DROVER_SHARD is ${shard}, expected such as 1/8`)
  return all.filter((_, at) => at % count === which - 1)
}
