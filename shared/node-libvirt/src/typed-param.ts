// remote_typed_param: string field, then a union of seven types by tag (VIR_TYPED_PARAM_*)
import { damaged, type Reader } from './xdr/reader.ts'
import type { Writer } from './xdr/writer.ts'

export type TypedParam = { readonly field: string } & TypedValue

export type TypedValue =
  | { readonly type: 'int' | 'uint' | 'double'; readonly value: number }
  | { readonly type: 'llong' | 'ullong'; readonly value: bigint }
  | { readonly type: 'boolean'; readonly value: boolean }
  | { readonly type: 'string'; readonly value: string }

export const TYPED_PARAM_BYTES = 12 // the least one takes: an empty field name, the tag, four bytes

const tags = { int: 1, uint: 2, llong: 3, ullong: 4, double: 5, boolean: 6, string: 7 } as const

export function writeTypedParam(w: Writer, param: TypedParam): Writer {
  w.string(param.field).int(tags[param.type])
  switch (param.type) {
    case 'int':
      return w.int(param.value)
    case 'uint':
      return w.uint(param.value)
    case 'llong':
      return w.hyper(param.value)
    case 'ullong':
      return w.uhyper(param.value)
    case 'double':
      return w.double(param.value)
    case 'boolean':
      return w.bool(param.value)
    case 'string':
      return w.string(param.value)
    default:
      return param // never: the types are all here
  }
}

export function readTypedParam(r: Reader): TypedParam {
  return { field: r.string(), ...readValue(r) }
}

function readValue(r: Reader): TypedValue {
  const tag = r.int()
  switch (tag) {
    case tags.int:
      return { type: 'int', value: r.int() }
    case tags.uint:
      return { type: 'uint', value: r.uint() }
    case tags.llong:
      return { type: 'llong', value: r.hyper() }
    case tags.ullong:
      return { type: 'ullong', value: r.uhyper() }
    case tags.double:
      return { type: 'double', value: r.double() }
    case tags.boolean:
      return { type: 'boolean', value: r.bool() }
    case tags.string:
      return { type: 'string', value: r.string() }
    default:
      throw damaged(`a typed parameter of type ${tag}`) // its size is unknown, so is all that follows
  }
}

export const readTypedParams = (r: Reader): TypedParam[] => r.list(readTypedParam, TYPED_PARAM_BYTES)

export const writeTypedParams = (w: Writer, params: readonly TypedParam[]): Writer => w.list(params, p => writeTypedParam(w, p))

/** By field name. Fields come and go with libvirt's version and the job's phase: ask for presence, not for zero. */
export function paramsByField(params: readonly TypedParam[]): ReadonlyMap<string, TypedParam> {
  return new Map(params.map(param => [param.field, param]))
}
