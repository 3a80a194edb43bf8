// One seed gives one fleet and one history: every choice and every id of the simulator comes from here.

export interface Random {
  /** From 0 up to, but not, 1. */
  next(): number
  /** A whole number from 0 up to, but not, `below`. */
  below(below: number): number
  pick<T>(list: readonly T[]): T
  uuid(): string
}

/** mulberry32: 32 bits of state, good enough for everything but secrets. */
export function seeded(seed: number): Random {
  let state = seed >>> 0
  const word = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const next = (): number => word() / 2 ** 32
  const below = (limit: number): number => Math.floor(next() * limit)
  return {
    next,
    below,
    pick: list => list[below(list.length)] as (typeof list)[number],
    uuid() {
      const hex = Array.from({ length: 4 }, () => word().toString(16).padStart(8, '0')).join('')
      const variant = '89ab'[Number.parseInt(hex[16] ?? '0', 16) & 3]
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
    }
  }
}
