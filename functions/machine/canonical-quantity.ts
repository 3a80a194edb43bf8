import { parseQuantity } from '../../shared/schema/quantity.ts'

const binary = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']
const decimal = ['', 'k', 'M', 'G', 'T', 'P', 'E']
const one = 10n ** 9n

/**
 * A size as Kubernetes' own kinds store it: 1024Mi becomes 1Gi, 1.5Gi 1536Mi. Written otherwise, what was applied and what is stored
 * would differ for ever. Pure.
 */
export function canonicalQuantity(text: string): string {
  const size = parseQuantity(text)
  if (size === undefined || size <= 0n) return text
  const whole = (size + one - 1n) / one
  const [suffixes, step] = /[KMGTPE]i$/.test(text) ? ([binary, 1024n] as const) : ([decimal, 1000n] as const)
  let value = whole
  let power = 0
  while (value % step === 0n && power < suffixes.length - 1) {
    value /= step
    power++
  }
  return `${value}${suffixes[power]}`
}
