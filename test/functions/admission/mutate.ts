// Reviews that no API server would send, from reviews that it would. Seeded: a failure can be had again.

export type Random = () => number

/** mulberry32 */
export function seeded(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)] as T

const strange: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  0.1,
  '',
  'x',
  '\uD800',
  'a\u0000b',
  '𝒳'.repeat(50),
  '1e999999999',
  '999999999999999999999Gi',
  [],
  [null],
  [[[]]],
  {},
  { a: { b: null } },
  { toString: 1, constructor: null, hasOwnProperty: 0 },
  { length: 3 },
  Array.from({ length: 200 }, (_, i) => ({ name: `n${i}`, size: i }))
]

/** Every place in a value: its parent and its key there. */
function places(value: unknown, found: Array<[Record<string, unknown>, string]>): void {
  if (typeof value !== 'object' || value === null) return
  const parent = value as Record<string, unknown>
  for (const key of Object.keys(parent)) {
    found.push([parent, key])
    places(parent[key], found)
  }
}

/** One to three of its places replaced, dropped, moved or doubled. */
function twist(random: Random, review: unknown): void {
  for (let times = Math.ceil(random() * 3); times > 0; times--) {
    const found: Array<[Record<string, unknown>, string]> = []
    places(review, found)
    const [parent, key] = pick(random, found)
    const [from, other] = pick(random, found)
    const what = random()
    if (what < 0.55) parent[key] = structuredClone(pick(random, strange))
    else if (what < 0.75) delete parent[key]
    else if (what < 0.85 && !holds(from[other], parent)) parent[key] = from[other]
    else if (what < 0.95 && !Array.isArray(parent))
      parent[pick(random, ['extra', 'constructor', 'toString', 'length', '0', ''])] = parent[key]
    else if (Array.isArray(parent[key])) parent[key] = [...(parent[key] as unknown[]), ...(parent[key] as unknown[])]
  }
}

const holds = (value: unknown, part: unknown): boolean => {
  if (value === part) return true
  return typeof value === 'object' && value !== null && Object.values(value).some(child => holds(child, part))
}

/** The text of one mutated review. */
export function mutated(random: Random, base: string): string {
  const what = random()
  if (what < 0.05) return base.slice(0, Math.floor(random() * base.length))
  if (what < 0.1) {
    const at = Math.floor(random() * base.length)
    return `${base.slice(0, at)}${pick(random, ['"', '{', '\\ud800', '\u0000', ',', '1', '__proto__', ']'])}${base.slice(at + 1)}`
  }
  // As text: an object literal could not hold the key.
  if (what < 0.2) return base.replaceAll('"spec":{', `"spec":{"__proto__":{"template":"huge","polluted":true},`)
  if (what < 0.25) return base.replaceAll('"metadata":{', `"metadata":{"__proto__":{"name":5},`)
  const review: unknown = JSON.parse(base)
  twist(random, review)
  return JSON.stringify(review)
}
