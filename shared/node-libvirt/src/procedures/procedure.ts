import type { Reader } from '../xdr/reader.ts'
import type { Writer } from '../xdr/writer.ts'

/** One remote call (REMOTE_PROC_*): its number, what goes out, what comes back. Args is void where nothing goes out. */
export interface Procedure<Args, Result> {
  readonly number: number
  readonly encode: (w: Writer, args: Args) => void
  readonly decode: (r: Reader) => Result
}

export const nothing = (): void => {}
