// libvirt's units, its sets of numbers, and Kubernetes' quantities: all exact.

// virScaleInteger: X and XiB are powers of 1024, XB of 1000; upper or lower case
const prefixes = ['k', 'm', 'g', 't', 'p', 'e']

/** Bytes; KiB when no unit is given, as libvirt has it for memory. */
export function toBytes(value: string, unit = 'KiB'): bigint {
  const amount = /^\d+$/.test(value) ? BigInt(value) : undefined
  const word = unit.toLowerCase()
  if (amount !== undefined && ['b', 'byte', 'bytes'].includes(word)) return amount
  const power = prefixes.indexOf(word[0] ?? '') + 1
  const base = { '': 1024n, ib: 1024n, b: 1000n }[word.slice(1)]
  if (amount === undefined || power === 0 || base === undefined) throw new Error(`not an amount of memory: ${value} ${unit}`)
  return amount * base ** BigInt(power)
}

/** `0-3,^2,8` → 0, 1, 3, 8 */
export function numbers(set: string): number[] {
  const found = new Set<number>()
  for (const part of set.split(',').map(text => text.trim())) {
    const [, not, first, last = first] = /^(\^?)(\d+)(?:-(\d+))?$/.exec(part) ?? []
    if (first === undefined || Number(last) - Number(first) > 65_536) throw new Error(`not a set of numbers: ${set}`)
    for (let n = Number(first); n <= Number(last); n++) {
      if (not) found.delete(n)
      else found.add(n)
    }
  }
  return [...found].sort((a, b) => a - b)
}

const binary = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

/** The shortest exact form with a binary suffix, as Kubernetes writes it. */
export function memoryQuantity(bytes: bigint): string {
  let [rest, power] = [bytes, 0]
  while (rest !== 0n && rest % 1024n === 0n && power < binary.length - 1) [rest, power] = [rest / 1024n, power + 1]
  return `${rest}${binary[power]}`
}

/** floor(amount × ratio); the ratio is taken as the decimal that somebody wrote, not as its nearest double (NA-5). */
export function scale(amount: bigint, ratio: number): bigint {
  const [digits = '', exponent = '0'] = String(ratio).split('e')
  const [whole = '', fraction = ''] = digits.split('.')
  const places = fraction.length - Number(exponent)
  const mantissa = amount * BigInt(whole + fraction)
  return places >= 0 ? mantissa / 10n ** BigInt(places) : mantissa * 10n ** BigInt(-places)
}

/** Splits a whole amount by weights; what does not divide goes to the largest remainders, so that the sum is the amount (NA-4). */
export function split(amount: bigint, weights: readonly bigint[]): bigint[] {
  const sum = weights.reduce((a, b) => a + b, 0n)
  if (sum === 0n) return weights.map(() => 0n)
  const shares = weights.map(weight => (amount * weight) / sum)
  let left = amount - shares.reduce((a, b) => a + b, 0n)
  const order = weights
    .map((weight, at) => ({ at, rest: (amount * weight) % sum }))
    .sort((a, b) => (b.rest > a.rest ? 1 : b.rest < a.rest ? -1 : a.at - b.at))
  for (const { at } of order) {
    if (left === 0n) break
    shares[at] = (shares[at] ?? 0n) + 1n
    left -= 1n
  }
  return shares
}
