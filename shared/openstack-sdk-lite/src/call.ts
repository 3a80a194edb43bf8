// A call is a row: where it goes, since which version the service offers it, which codes mean success, how its answer reads.
import { OpenStackError } from './error.ts'

export type Service = 'identity' | 'compute' | 'placement' | 'image' | 'network'
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
export type Version = `${number}.${number}`

export interface Answer {
  status: number
  body: unknown
  headers: Readonly<Record<string, string | undefined>>
}

export interface Call<Path extends string, Out> {
  /** `liveMigrate`, under the name of its resource: `servers.liveMigrate` */
  readonly name: string
  /** the row of the table in the README */
  readonly row: string
  readonly service: Service
  readonly method: Method
  readonly path: Path
  /** the first microversion that offers the call as it is used here */
  readonly since?: Version
  /** the last microversion at which the call still does what it is used for */
  readonly until?: Version
  /** every code that means success; anything else is an error */
  readonly ok: readonly number[]
  /** a request that changes nothing although it is not a GET */
  readonly repeatable?: true
  readonly decode: (answer: Answer) => Out
}

type Placeholder<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | Placeholder<Rest> : never

/** The values for the `{placeholders}` of a path. */
export type Params<Path extends string> = Readonly<Record<Placeholder<Path>, string>>
export type Query = Readonly<Record<string, string | number | boolean | undefined>>

export interface Extra {
  query?: Query
  body?: unknown
}

export type Send = <Path extends string, Out>(call: Call<Path, Out>, params: Params<Path>, extra?: Extra) => Promise<Out>

/** Fixes the type of the path, so that its placeholders are known to the compiler. */
export const call = <const Path extends string, Out>(row: Call<Path, Out>): Call<Path, Out> => row

export const label = (row: Call<string, unknown>): string => `${row.name} (${row.row})`
export const isRead = (row: Call<string, unknown>): boolean => row.method === 'GET' || row.repeatable === true

/** An id is never empty: `/servers/` + nothing would be the list, and a DELETE of it a disaster. */
export function fillPath(path: string, params: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name]
    if (!value) throw new OpenStackError('BadInput', `${path}: ${name} is empty`)
    return encodeURIComponent(value)
  })
}

export function queryString(query: Query = {}): string {
  const given = Object.entries(query).filter((pair): pair is [string, string | number | boolean] => pair[1] !== undefined)
  return given.length === 0 ? '' : `?${given.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}`
}

// decoders for answers without a body worth reading
export const nothing = (): void => {}
export const deletedOrAbsent = ({ status }: Answer): 'deleted' | 'absent' => (status === 404 ? 'absent' : 'deleted')
