// What comes before CONNECT_OPEN. Numbers are REMOTE_PROC_AUTH_*.
import { damaged, type Reader } from '../xdr/reader.ts'
import type { Writer } from '../xdr/writer.ts'
import { nothing, type Procedure } from './procedure.ts'

/** remote_auth_type */
export const AUTH = { none: 0, sasl: 1, polkit: 2 } as const

// 66 AUTH_LIST -> int[]
export const authList: Procedure<void, number[]> = { number: 66, encode: nothing, decode: r => r.list(() => r.int()) }

// 67 AUTH_SASL_INIT -> string mechanisms, separated by commas
export const authSaslInit: Procedure<void, string> = { number: 67, encode: nothing, decode: r => r.string() }

/** No data and empty data are different things in SASL: null and a Buffer of length 0. */
export type SaslData = Buffer<ArrayBuffer> | null

export interface SaslTurn {
  readonly complete: boolean
  readonly data: SaslData
}

// 68 AUTH_SASL_START: string mechanism, int nil, char[] data -> int complete, int nil, char[] data
export const authSaslStart: Procedure<{ mechanism: string; data: SaslData }, SaslTurn> = {
  number: 68,
  encode: (w, { mechanism, data }) => writeData(w.string(mechanism), data),
  decode: readTurn
}

// 69 AUTH_SASL_STEP: int nil, char[] data -> as 68
export const authSaslStep: Procedure<{ data: SaslData }, SaslTurn> = {
  number: 69,
  encode: (w, { data }) => writeData(w, data),
  decode: readTurn
}

// 70 AUTH_POLKIT -> int complete
export const authPolkit: Procedure<void, boolean> = { number: 70, encode: nothing, decode: r => r.bool() }

/** `char data<>`, not opaque: each byte takes a word. */
function writeData(w: Writer, data: SaslData): void {
  w.bool(data === null)
  w.list([...(data ?? [])], byte => w.int((byte << 24) >> 24)) // char is signed
}

function readTurn(r: Reader): SaslTurn {
  const complete = r.bool()
  const nil = r.bool()
  const bytes = Buffer.from(r.list(() => r.int()))
  if (nil && bytes.length > 0) throw damaged('SASL data that says it is absent')
  return { complete, data: nil ? null : bytes }
}
