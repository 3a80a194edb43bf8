// JSON with exact 64-bit integers. Plain JSON.parse is several times faster than one with a reviver, so the reviver runs only for
// messages in which the splitter saw a long number.
import { OvsdbError } from './error.ts'
import type { JsonText } from './json-stream.ts'

type SourceReviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown
const parseWithSource = JSON.parse as (text: string, reviver: SourceReviver) => unknown
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown }

export const minInt64 = -(2n ** 63n)
export const maxInt64 = 2n ** 63n - 1n
const integerText = /^-?\d{16,19}$/ // no more digits than an int64 has: longer ones can only be reals

const exact: SourceReviver = (_key, value, { source }) =>
  typeof value === 'number' && source !== undefined && !Number.isSafeInteger(value) && integerText.test(source)
    ? BigInt(source)
    : value

/** An integer that a JavaScript number cannot hold comes as a bigint, every other number as a number. */
export function parseJson({ text, wide }: JsonText): unknown {
  try {
    return wide ? parseWithSource(text, exact) : JSON.parse(text)
  } catch (cause) {
    throw new OvsdbError('protocol', 'message is not JSON', { cause })
  }
}

/** Something JSON.stringify writes with all its digits. */
export function exactInteger(value: bigint): unknown {
  if (value < minInt64 || value > maxInt64) throw new OvsdbError('notation', `${value} does not fit into 64 bits`)
  return rawJSON(String(value))
}

export type JsonObject = { readonly [key: string]: unknown }

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
