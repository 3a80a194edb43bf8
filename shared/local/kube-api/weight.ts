// About how many bytes a value holds in memory: enough to bound what is kept, cheap enough for every write.
export function weigh(value: unknown): number {
  if (typeof value === 'string') return 16 + value.length
  if (typeof value !== 'object' || value === null) return 8
  let sum = 32
  if (Array.isArray(value)) for (const item of value) sum += weigh(item)
  else for (const key in value) sum += key.length + weigh((value as Record<string, unknown>)[key])
  return sum
}
