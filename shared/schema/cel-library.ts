// The functions that Kubernetes adds to CEL, as far as rules commonly use them: quantities, URLs, IP addresses and subnets,
// regular expressions, lists. Regular expressions are JavaScript's, not RE2's: the same for what patterns normally say.
import { BlockList, isIP, isIPv4 } from 'node:net'
import { Environment } from '@marcbachmann/cel-js'
import { fromWhole, isWhole, parseQuantity, toNumber, toWhole } from './quantity.ts'

class Quantity {
  readonly size: bigint
  constructor(size: bigint) {
    this.size = size
  }
}

class Address {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

class Subnet {
  readonly address: string
  readonly prefix: number
  constructor(address: string, prefix: number) {
    this.address = address
    this.prefix = prefix
  }

  contains({ text }: Address): boolean {
    if (family(text) !== family(this.address)) return false // Node takes 0.0.0.0 for ::ffff:0.0.0.0, Go does not
    const inside = new BlockList()
    inside.addSubnet(this.address, this.prefix, family(this.address))
    return inside.check(text, family(text))
  }
}

const family = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6')

/** Mapped addresses and zones are refused, as the server does. */
const isAddress = (text: string) => isIP(text) !== 0 && !text.includes('%') && !/^::ffff:.*\./i.test(text)

function parseSubnet(text: string): Subnet | undefined {
  const [address = '', prefix = '', ...rest] = text.split('/')
  if (rest.length > 0 || !isAddress(address) || !/^(0|[1-9]\d{0,2})$/.test(prefix)) return undefined
  return Number(prefix) <= (isIPv4(address) ? 32 : 128) ? new Subnet(address, Number(prefix)) : undefined
}

function need<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`not ${what}`)
  return value
}

const toQuantity = (text: string) => new Quantity(need(parseQuantity(text), 'a quantity'))
const toAddress = (text: string) => new Address(need(isAddress(text) ? text : undefined, 'an IP address'))
const toSubnet = (text: string) => need(parseSubnet(text), 'a subnet')
const compare = (a: Quantity, b: Quantity) => (a.size < b.size ? -1n : a.size > b.size ? 1n : 0n)

/** An absolute address or an absolute path, which is what Go's ParseRequestURI takes. */
const isUrl = (text: string) => URL.canParse(text) || (text.startsWith('/') && URL.canParse(text, 'http://host'))
const toUrl = (text: string) => new URL(need(isUrl(text) ? text : undefined, 'a URL'), 'http://host')

type Comparable = bigint | number | string
const pick = (list: Comparable[], better: (a: Comparable, b: Comparable) => boolean) =>
  need(list[0] === undefined ? undefined : list.reduce((best, next) => (better(next, best) ? next : best)), 'a list with entries')
const sum = (list: Array<bigint | number>) =>
  list.every(entry => typeof entry === 'bigint')
    ? list.reduce((a, b) => a + b, 0n)
    : list.reduce((a, b) => Number(a) + Number(b), 0)

export function environment(): Environment {
  return new Environment({ unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false, enableOptionalTypes: true })
    .registerType('Quantity', Quantity)
    .registerType('IP', Address)
    .registerType('CIDR', Subnet)
    .registerType('URL', URL)
    .registerFunction('isQuantity(string): bool', (text: string) => parseQuantity(text) !== undefined)
    .registerFunction('quantity(string): Quantity', toQuantity)
    .registerFunction('Quantity.isInteger(): bool', ({ size }: Quantity) => isWhole(size))
    .registerFunction('Quantity.asInteger(): int', ({ size }: Quantity) =>
      toWhole(need(isWhole(size) ? size : undefined, 'whole'))
    )
    .registerFunction('Quantity.asApproximateFloat(): double', ({ size }: Quantity) => toNumber(size))
    .registerFunction('Quantity.compareTo(Quantity): int', compare)
    .registerFunction('Quantity.isGreaterThan(Quantity): bool', (a: Quantity, b: Quantity) => a.size > b.size)
    .registerFunction('Quantity.isLessThan(Quantity): bool', (a: Quantity, b: Quantity) => a.size < b.size)
    .registerFunction('Quantity.add(Quantity): Quantity', (a: Quantity, b: Quantity) => new Quantity(a.size + b.size))
    .registerFunction('Quantity.add(int): Quantity', (a: Quantity, b: bigint) => new Quantity(a.size + fromWhole(b)))
    .registerFunction('Quantity.sub(Quantity): Quantity', (a: Quantity, b: Quantity) => new Quantity(a.size - b.size))
    .registerFunction('Quantity.sub(int): Quantity', (a: Quantity, b: bigint) => new Quantity(a.size - fromWhole(b)))
    .registerOperator('Quantity == Quantity', (a: Quantity, b: Quantity) => a.size === b.size)
    .registerFunction('isIP(string): bool', isAddress)
    .registerFunction('ip(string): IP', toAddress)
    .registerFunction('IP.family(): int', ({ text }: Address) => BigInt(isIP(text)))
    .registerFunction('isCIDR(string): bool', (text: string) => parseSubnet(text) !== undefined)
    .registerFunction('cidr(string): CIDR', toSubnet)
    .registerFunction('CIDR.containsIP(string): bool', (subnet: Subnet, text: string) => subnet.contains(toAddress(text)))
    .registerFunction('CIDR.containsIP(IP): bool', (subnet: Subnet, address: Address) => subnet.contains(address))
    .registerFunction('CIDR.prefixLength(): int', ({ prefix }: Subnet) => BigInt(prefix))
    .registerFunction('isURL(string): bool', isUrl)
    .registerFunction('url(string): URL', toUrl)
    .registerFunction('URL.getScheme(): string', ({ protocol }: URL) => protocol.slice(0, -1))
    .registerFunction('URL.getHost(): string', ({ host }: URL) => host)
    .registerFunction('URL.getHostname(): string', ({ hostname }: URL) => hostname)
    .registerFunction('URL.getPort(): string', ({ port }: URL) => port)
    .registerFunction('URL.getEscapedPath(): string', ({ pathname }: URL) => pathname)
    .registerFunction('string.find(string): string', (text: string, pattern: string) => new RegExp(pattern).exec(text)?.[0] ?? '')
    .registerFunction(
      'string.findAll(string): list<string>',
      (text: string, pattern: string) => text.match(new RegExp(pattern, 'g')) ?? []
    )
    .registerFunction('list.isSorted(): bool', (list: Comparable[]) => list.every((entry, i) => i === 0 || list[i - 1]! <= entry))
    .registerFunction('list.sum(): dyn', sum)
    .registerFunction('list.min(): dyn', (list: Comparable[]) => pick(list, (a, b) => a < b))
    .registerFunction('list.max(): dyn', (list: Comparable[]) => pick(list, (a, b) => a > b))
    .registerFunction('list.indexOf(dyn): int', (list: unknown[], entry: unknown) => BigInt(list.indexOf(entry)))
    .registerFunction('list.lastIndexOf(dyn): int', (list: unknown[], entry: unknown) => BigInt(list.lastIndexOf(entry)))
}
