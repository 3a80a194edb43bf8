// RFC 7047 §5.1: how values are written in operations. JavaScript's own sets, arrays, maps and objects stand for OVSDB's; only a
// reference needs a mark, because on the wire and in JavaScript a uuid looks like any other string.
import { OvsdbError } from './error.ts'
import { exactInteger } from './json.ts'

const mark = Symbol('ovsdb-client.reference')

export type Reference = { readonly [mark]: 'uuid' | 'named-uuid'; readonly id: string }
export type Atom = string | number | bigint | boolean | Reference
export type Value =
  | Atom
  | readonly Atom[]
  | ReadonlySet<Atom>
  | ReadonlyMap<Atom, Atom>
  | { readonly [key: string]: Atom; readonly [mark]?: never }

const uuidText = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const nameText = /^[A-Za-z_][A-Za-z0-9_]*$/

export const zeroUuid = '00000000-0000-0000-0000-000000000000'

export const isUuid = (wire: unknown): wire is string => typeof wire === 'string' && uuidText.test(wire)

/** A row by its uuid. */
export function uuid(id: string): Reference {
  if (!uuidText.test(id)) throw new OvsdbError('notation', `not a uuid: ${id}`)
  return { [mark]: 'uuid', id }
}

/** A row that this same transaction inserts under that name. */
export function named(id: string): Reference {
  return { [mark]: 'named-uuid', id: rowName(id) }
}

export function rowName(name: string): string {
  if (!nameText.test(name)) throw new OvsdbError('notation', `not an identifier: ${name}`)
  return name
}

export function encodeValue(value: Value): unknown {
  if (typeof value !== 'object') return encodeAtom(value)
  if (isReference(value)) return encodeAtom(value)
  if (isPairs(value)) return ['map', Array.from(value, ([key, item]) => [encodeAtom(key), encodeAtom(item)])]
  if (isMembers(value)) return ['set', Array.from(value, encodeAtom)]
  return ['map', Object.entries(value).map(([key, item]) => [encodeString(key), encodeAtom(item)])]
}

function encodeAtom(atom: Atom): unknown {
  switch (typeof atom) {
    case 'string':
      return encodeString(atom)
    case 'bigint':
      return exactInteger(atom)
    case 'number':
      if (!Number.isFinite(atom)) throw new OvsdbError('notation', `not a finite number: ${atom}`)
      return atom
    case 'boolean':
      return atom
    default:
      return [atom[mark], atom.id]
  }
}

// The server's parser hangs up on either, and takes every other call on the connection down with it.
function encodeString(text: string): string {
  if (text.includes('\0') || !text.isWellFormed()) {
    throw new OvsdbError('notation', 'a string may hold neither a null character nor half a surrogate pair')
  }
  return text
}

const isReference = (value: object): value is Reference => mark in value
const isPairs = (value: object): value is ReadonlyMap<Atom, Atom> => value instanceof Map
const isMembers = (value: object): value is readonly Atom[] | ReadonlySet<Atom> => Array.isArray(value) || value instanceof Set
