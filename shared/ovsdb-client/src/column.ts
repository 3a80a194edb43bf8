// What a caller says about a column, once: the TypeScript type of its values, and how they are read from the wire (RFC 7047 §5.1).
import { inspect } from 'node:util'
import { OvsdbError } from './error.ts'
import { isUuid, zeroUuid } from './notation.ts'

export type Base = 'integer' | 'real' | 'boolean' | 'string' | 'uuid'
type Primitive = string | number | bigint | boolean

export type Column<T> = {
  readonly shape: 'scalar' | 'optional' | 'set' | 'map'
  readonly key: Base
  readonly value?: Base
  /** What an omitted column holds: RFC 7047 §5.2.1. */
  readonly empty: T
  readonly decode: (wire: unknown) => T
  /** The old value changed by an update2 "modify", for a column that may hold more than one element. */
  patch(old: T, wire: unknown): T // a method, as `same` is: columns of all types go into one list
  same(a: T, b: T): boolean
}
export type Scalar<T> = Column<T> & { readonly shape: 'scalar' }
export type Columns = { readonly [name: string]: Column<unknown> }
export type ValueOf<C> = C extends Column<infer T> ? T : never
export type Row<C extends Columns> = { readonly _uuid: string } & { readonly [K in keyof C]: ValueOf<C[K]> }

function misfit(expected: string, wire: unknown): never {
  throw new OvsdbError('notation', `expected ${expected}, got ${inspect(wire, { breakLength: Infinity }).slice(0, 100)}`)
}

const scalar = <T extends Primitive>(key: Base, empty: T, decode: (wire: unknown) => T): Scalar<T> => ({
  shape: 'scalar',
  key,
  empty,
  decode,
  patch: (_old, wire) => decode(wire),
  same: (a, b) => a === b
})

const string = scalar<string>('string', '', wire => (typeof wire === 'string' ? wire : misfit('a string', wire)))
const boolean = scalar<boolean>('boolean', false, wire => (typeof wire === 'boolean' ? wire : misfit('a boolean', wire)))
const real = scalar<number>('real', 0, wire =>
  typeof wire === 'number' || typeof wire === 'bigint' ? Number(wire) : misfit('a number', wire)
)
const integer = scalar<bigint>('integer', 0n, wire =>
  typeof wire === 'bigint' || (typeof wire === 'number' && Number.isInteger(wire)) ? BigInt(wire) : misfit('an integer', wire)
)
const safeInteger = scalar<number>('integer', 0, wire =>
  Number.isSafeInteger(wire) ? (wire as number) : misfit('an integer within 2^53', wire)
)
const uuid = scalar<string>('uuid', zeroUuid, wire =>
  Array.isArray(wire) && wire[0] === 'uuid' && isUuid(wire[1]) ? wire[1] : misfit('a uuid', wire)
)

/** A set of one element comes as the bare element: RFC 7047 §5.1 `<set>`. */
const elements = (wire: unknown): readonly unknown[] =>
  Array.isArray(wire) && wire[0] === 'set' && Array.isArray(wire[1]) ? wire[1] : [wire]

const pairs = (wire: unknown): readonly unknown[] =>
  Array.isArray(wire) && wire[0] === 'map' && Array.isArray(wire[1]) ? wire[1] : misfit('a map', wire)

function optional<T extends Primitive>(of: Scalar<T>): Column<T | undefined> {
  const decode = (wire: unknown) => {
    const found = elements(wire)
    if (found.length > 1) misfit('at most one element', wire)
    return found.length === 0 ? undefined : of.decode(found[0])
  }
  return {
    shape: 'optional',
    key: of.key,
    empty: undefined,
    decode,
    patch: (_old, wire) => decode(wire),
    same: (a, b) => a === b
  }
}

function set<T extends Primitive>(of: Scalar<T>): Column<ReadonlySet<T>> {
  const empty: ReadonlySet<T> = new Set<T>()
  return {
    shape: 'set',
    key: of.key,
    empty,
    decode: wire => {
      const found = elements(wire)
      return found.length === 0 ? empty : new Set(found.map(of.decode))
    },
    patch: (old, wire) => {
      const next = new Set(old)
      for (const element of elements(wire).map(of.decode)) if (!next.delete(element)) next.add(element)
      return next
    },
    same: (a, b) => {
      if (a.size !== b.size) return false
      for (const element of a) if (!b.has(element)) return false
      return true
    }
  }
}

function map<K extends Primitive, V extends Primitive>(key: Scalar<K>, value: Scalar<V>): Column<ReadonlyMap<K, V>> {
  const empty: ReadonlyMap<K, V> = new Map<K, V>()
  const each = (wire: unknown, visit: (k: K, v: V) => void) => {
    for (const pair of pairs(wire)) {
      if (!Array.isArray(pair) || pair.length !== 2) misfit('a pair', pair)
      visit(key.decode(pair[0]), value.decode(pair[1]))
    }
  }
  return {
    shape: 'map',
    key: key.key,
    value: value.key,
    empty,
    decode: wire => {
      if (pairs(wire).length === 0) return empty
      const found = new Map<K, V>()
      each(wire, (k, v) => found.set(k, v))
      return found
    },
    patch: (old, wire) => {
      const next = new Map(old)
      each(wire, (k, v) => (next.get(k) === v ? next.delete(k) : next.set(k, v)))
      return next
    },
    same: (a, b) => {
      if (a.size !== b.size) return false
      for (const [k, v] of a) if (b.get(k) !== v) return false
      return true
    }
  }
}

/** `integer` is a bigint, exact to 64 bits; `safeInteger` is a number and refuses what a number cannot hold. */
export const column = { string, boolean, real, integer, safeInteger, uuid, optional, set, map } as const
