// A request as the handlers see it, and readers for bodies of unknown shape.
import type { Person, World } from '../world/world.ts'
import { nova } from './refusal.ts'

export type Service = 'identity' | 'compute' | 'placement' | 'image' | 'network'

export interface Incoming {
  params: Readonly<Record<string, string>>
  query: URLSearchParams
  body: Readonly<Record<string, unknown>>
  who: Person
  requestId: string
  /** the minor number of the microversion that the request asked for */
  version: number
  /** the address that links in answers begin with */
  base: string
}

export interface Reply {
  status: number
  body?: object
  headers?: Record<string, string>
}

export type Handler = (world: World, request: Incoming) => Reply

export interface Route {
  service: Service
  method: string
  path: string
  handle: Handler
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

export function objectIn(body: Readonly<Record<string, unknown>>, key: string): Record<string, unknown> {
  const value = body[key]
  if (!isObject(value)) throw nova(400, `Invalid input for field/attribute ${key}.`)
  return value
}

/** Fields that there are since this microversion, and were not before. */
export const since = <T extends object>({ version }: Incoming, minor: number, fields: T): Partial<T> =>
  version >= minor ? fields : {}

export const param = ({ params }: Incoming, name: string): string => params[name] ?? ''
export const iso = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, '.000000')
/** as `utils.isotime` writes it, and so are a server's own times */
export const isotime = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
export const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms))

/** Nova's pages: `limit` items after the one whose id is `marker`, and a link to the next. */
export function pageOf<T>(
  all: T[],
  idOf: (item: T) => string,
  { query, base }: Incoming,
  path: string
): { items: T[]; links: object[] | null } {
  const limit = Math.min(Number(query.get('limit') ?? 1000), 1000)
  const marker = query.get('marker')
  const at = marker === null ? -1 : all.findIndex(item => idOf(item) === marker)
  if (marker !== null && at === -1) throw nova(400, `Marker ${marker} could not be found.`)
  const items = all.slice(at + 1, at + 1 + limit)
  const last = items.at(-1)
  if (!last || items.length < limit) return { items, links: null }
  const next = new URLSearchParams(query)
  next.set('marker', idOf(last))
  return { items, links: [{ rel: 'next', href: `${base}${path}?${next.toString()}` }] }
}
