// Resource quantities, exact: a number of billionths, the finest step Kubernetes keeps.

const form = /^([+-]?)(\d+\.?\d*|\.\d+)(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?\d+)?$/
const decimal: Record<string, number> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }
const one = 10n ** 9n
/** Billionths; powers of big numbers are slow, and every admission of a Machine asks for several. */
const binary = new Map(['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map((suffix, i) => [suffix, one * 1024n ** BigInt(i + 1)]))

const known = new Map<string, bigint>()
const room = 500 // texts come from outside: a sender must not be able to fill our memory with them
const longest = 24

/** Billionths, or undefined if the text is no quantity. The same few sizes come again and again. */
export function parseQuantity(given: string | number | bigint): bigint | undefined {
  const text = String(given)
  const found = known.get(text)
  if (found !== undefined) return found
  const size = parse(text)
  if (size !== undefined && known.size < room && text.length <= longest) known.set(text, size)
  return size
}

function parse(text: string): bigint | undefined {
  const [, sign, digits = '', suffix = ''] = form.exec(text) ?? []
  if (sign === undefined) return undefined
  const [whole = '', fraction = ''] = digits.split('.')
  const mantissa = BigInt(whole + fraction)
  const unit = suffix === '' ? one : binary.get(suffix)
  const size =
    unit === undefined ? shift(mantissa, 9 + exponent(suffix) - fraction.length) : ceil(mantissa * unit, fraction.length)
  return sign === '-' ? -size : size
}

/** The power of ten. Bounded, since a client may write 1e999999999. */
const exponent = (suffix: string) => decimal[suffix] ?? Math.min(Math.max(Number(suffix.slice(1)), -99), 99)

const shift = (value: bigint, places: number) => (places < 0 ? ceil(value, -places) : value * 10n ** BigInt(places))

/** Divides by a power of ten. Kubernetes rounds what is finer than a billionth away from zero. */
function ceil(value: bigint, places: number): bigint {
  if (places === 0) return value
  const by = 10n ** BigInt(places)
  return (value + by - 1n) / by
}

export const isWhole = (billionths: bigint) => billionths % one === 0n
export const toWhole = (billionths: bigint) => billionths / one
export const fromWhole = (whole: bigint) => whole * one
export const toNumber = (billionths: bigint) => Number(billionths) / 1e9
