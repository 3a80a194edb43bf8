// The words the kinds are written in. Every word makes a TypeBox schema that is at the same time a structural OpenAPI v3 schema, so
// that nothing needs translating for the CRD: what the type says is what the API server enforces.
import { type Static, type TObject, type TOptional, type TProperties, type TSchema, Type } from 'typebox'

/** One CEL rule, as it stands in `x-kubernetes-validations`. */
export interface Rule {
  rule: string
  message: string
  fieldPath?: string
}

interface Ruled {
  rules?: readonly Rule[]
}
interface Common<T> extends Ruled {
  default?: T
}
interface TextOptions extends Common<string> {
  minLength?: number
  maxLength?: number
  pattern?: string
}
interface NumberOptions extends Common<number> {
  minimum?: number
  maximum?: number
}
interface ListOptions<T> extends Common<T[]> {
  minItems?: number
  maxItems?: number
}

export const rule = (cel: string, message: string, fieldPath?: string): Rule => ({
  rule: cel,
  message,
  ...(fieldPath && { fieldPath })
})

const options = <O extends Ruled>(description: string, { rules, ...rest }: O) => ({
  description,
  ...rest,
  ...(rules && { 'x-kubernetes-validations': rules })
})

export const text = (description: string, more: TextOptions = {}) => Type.String(options(description, more))
export const flag = (description: string, more: Common<boolean> = {}) => Type.Boolean(options(description, more))
export const integer = (description: string, more: NumberOptions = {}) => Type.Integer(options(description, more))
export const int32 = (description: string, more: NumberOptions = {}) =>
  Type.Integer({ ...options(description, more), format: 'int32' })
export const int64 = (description: string, more: NumberOptions = {}) =>
  Type.Integer({ ...options(description, more), format: 'int64' })
export const number = (description: string, more: NumberOptions = {}) => Type.Number(options(description, more))

/** A 64-bit counter that may pass 2^53: written as a bigint where it matters (OV-4). */
export const counter = (description: string) => Type.Unsafe<number | bigint>({ type: 'integer', format: 'int64', description })

export const word = <const V extends string>(description: string, values: readonly V[], more: Common<V> = {}) =>
  Type.Unsafe<V>({ type: 'string', enum: [...values], ...options(description, more) })

export const dateTime = (description: string) => Type.String({ format: 'date-time', description })

/** Go's duration text (`1h30m`). A pattern, because the server's format `duration` also takes `2 days`, which no client can read. */
export const duration = (description: string) =>
  Type.String({ description, pattern: '^([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$', maxLength: 64 })

const quantityPattern =
  '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$'

/** A resource quantity, as Kubernetes' own kinds declare it. */
export const quantity = (description: string, more: Ruled & { maxLength?: number } = {}) =>
  Type.Unsafe<string | number>({
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    'x-kubernetes-int-or-string': true,
    pattern: quantityPattern,
    ...options(description, more)
  })

export const mapOf = <V extends TSchema>(description: string, values: V, more: Ruled = {}) =>
  Type.Unsafe<Record<string, Static<V>>>({ type: 'object', additionalProperties: values, ...options(description, more) })

/** A list that is replaced as a whole. */
export const list = <I extends TSchema>(description: string, items: I, more: ListOptions<Static<I>> = {}) =>
  Type.Array(items, options(description, more))

export const set = <I extends TSchema>(description: string, items: I, more: ListOptions<Static<I>> = {}) =>
  Type.Array(items, { ...options(description, more), 'x-kubernetes-list-type': 'set' })

/** A list whose entries belong to different writers, told apart by `keys`. Each key is required or has a default. */
export const listMap = <I extends TObject>(
  description: string,
  items: I,
  keys: ReadonlyArray<keyof Static<I> & string>,
  more: ListOptions<Static<I>> = {}
) =>
  Type.Array(items, { ...options(description, more), 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [...keys] })

type Fields<P extends TProperties, R extends keyof P> = { [K in keyof P]: K extends R ? P[K] : TOptional<P[K]> }

/** An object whose fields are optional unless `required` names them, as in OpenAPI. */
export function object<P extends TProperties, const R extends keyof P & string = never>(
  description: string,
  properties: P,
  { required = [], ...more }: Ruled & { required?: readonly R[] } = {}
): TObject<Fields<P, R>> {
  const names: readonly string[] = required
  const fields = Object.entries(properties).map(([name, schema]) => [name, names.includes(name) ? schema : Type.Optional(schema)])
  return Type.Object(Object.fromEntries(fields) as Fields<P, R>, options(description, more))
}

export const dnsLabel = { pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', minLength: 1, maxLength: 63 }
export const dnsSubdomain = {
  pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
  minLength: 1,
  maxLength: 253
}

/** The union rule: exactly one of the named members is given. A sum, since a list comprehension costs more than the server allows. */
export const exactlyOne = (...members: string[]): Rule =>
  rule(
    `${members.map(member => `(has(self.${member}) ? 1 : 0)`).join(' + ')} == 1`,
    `exactly one of ${members.join(', ')} must be given`
  )
