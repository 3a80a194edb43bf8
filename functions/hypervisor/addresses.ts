import { BlockList, isIPv6 } from 'node:net'
import type { Node } from '../../shared/kube/kinds.ts'

export type Family = 'ipv4' | 'ipv6'

export const internalIps = (node: Node): string[] =>
  (node.status?.addresses ?? []).flatMap(({ type, address }) => (type === 'InternalIP' ? [address] : [])).sort(byNumber)

/** HV-23: kept while the node still has it, else the lowest of the preferred family, else the lowest. */
export function internalIp(addresses: readonly string[], before: string | undefined, preferred: Family): string | undefined {
  if (before !== undefined && addresses.includes(before)) return before
  return addresses.find(address => familyOf(address) === preferred) ?? addresses[0]
}

const familyOf = (address: string): Family => (isIPv6(address) ? 'ipv6' : 'ipv4')

/** As numbers, since 10.0.0.9 comes before 10.0.0.10; IPv4 before IPv6. */
function byNumber(a: string, b: string): number {
  if (a === b) return 0
  const family = familyOf(a)
  if (family !== familyOf(b)) return family === 'ipv4' ? -1 : 1
  const upToB = new BlockList()
  upToB.addRange(family === 'ipv4' ? '0.0.0.0' : '::', b, family)
  return upToB.check(a, family) ? -1 : 1
}
