// What may not be stored as a NetworkConfiguration (A17: NC1, NC3 and what the schema's CEL says), and W10 (NC4). Pure.
import { BlockList, isIP, isIPv4 } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { apiVersion } from '../schema/kind.ts'
import { NetworkConfiguration } from '../schema/network-configuration.ts'
import { openApiSchema } from '../schema/openapi.ts'
import { typeErrors } from '../schema/type-errors.ts'
import { at, type Violation } from '../schema/violation.ts'
import { breach, judge, type Rule, type Verdict } from './rule.ts'

export interface NetworkAsked {
  network: NetworkConfiguration
  old?: NetworkConfiguration | undefined
}
type NetworkRule = Rule<NetworkAsked>
type Spec = NetworkConfiguration['spec']

const machinesOn = (network: NetworkConfiguration | undefined): number => network?.status?.machineCount ?? 0

const oneKind: NetworkRule = {
  id: 'A17',
  weight: 'refused',
  what: 'none or several of bridge, nadRef and podNetwork: true (NC1)',
  example: 'spec: {bridge: br0, podNetwork: true}',
  fix: 'say exactly one of the three',
  check({ network: { spec } }) {
    const given = [spec.bridge !== undefined, spec.nadRef !== undefined, spec.podNetwork === true].filter(Boolean).length
    return given === 1 ? [] : [breach('spec', `exactly one of bridge, nadRef and podNetwork: true must be given, not ${given}`)]
  }
}

const onlyOnBridge: NetworkRule = {
  id: 'A17',
  weight: 'refused',
  what: 'vlan or mtu without a bridge',
  example: 'spec: {podNetwork: true, vlan: 100}',
  fix: 'leave vlan and mtu out, or say the bridge that they belong to',
  check: ({ network: { spec } }) =>
    spec.bridge === undefined
      ? (['vlan', 'mtu'] as const)
          .filter(field => spec[field] !== undefined)
          .map(field => breach(`spec.${field}`, `${field} needs a bridge: add it or leave ${field} out`))
      : []
}

const family = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6')
/** Mapped addresses and zones are refused, as the server does. */
const isAddress = (text: string): boolean => isIP(text) !== 0 && !text.includes('%') && !/^::ffff:.*\./i.test(text)

interface Subnet {
  address: string
  prefix: number
}

function subnetOf(text: string): Subnet | undefined {
  const [, address = '', prefix = ''] = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? []
  return isAddress(address) && Number(prefix) <= (isIPv4(address) ? 32 : 128) ? { address, prefix: Number(prefix) } : undefined
}

function isInside(gateway: string, { address, prefix }: Subnet): boolean {
  if (family(gateway) !== family(address)) return false
  const inside = new BlockList()
  inside.addSubnet(address, prefix, family(address))
  return inside.check(gateway, family(gateway))
}

const addresses: NetworkRule = {
  id: 'A17',
  weight: 'refused',
  what: 'an address or subnet that is none, or a gateway outside the subnet',
  example: 'spec: {bridge: br0, ipam: {subnet: 10.0.0.0/24, gateway: 10.0.1.1}}',
  fix: 'a subnet such as 10.0.0.0/24, and a gateway inside it',
  check({ network: { spec } }) {
    const { subnet, gateway, dns = [] } = spec.ipam ?? {}
    const range = subnet === undefined ? undefined : subnetOf(subnet)
    const told = (path: string, text: string): Violation[] =>
      isAddress(text) ? [] : [breach(path, 'must be an IP address, such as 10.0.0.1')]
    const wrongGateway = gateway === undefined ? [] : told('spec.ipam.gateway', gateway)
    return [
      ...(subnet !== undefined && !range ? [breach('spec.ipam.subnet', 'must be a subnet such as 10.0.0.0/24')] : []),
      ...wrongGateway,
      ...dns.flatMap((text, i) => told(at('spec.ipam.dns', i), text)),
      ...(gateway !== undefined && wrongGateway.length === 0 && range && !isInside(gateway, range)
        ? [breach('spec.ipam.gateway', `the gateway must be inside the subnet ${subnet}`)]
        : [])
    ]
  }
}

const fixed = ['bridge', 'vlan', 'nadRef', 'podNetwork'] as const

/** Absent, 0 and false all say "not that". */
const meaningOf = (spec: Spec, field: (typeof fixed)[number]): unknown => spec[field] || undefined

const inUse: NetworkRule = {
  id: 'A17',
  weight: 'refused',
  what: 'another bridge, vlan, nadRef or podNetwork while Machines use the network (NC3)',
  example: 'spec: {bridge: br0, vlan: 200}',
  fix: 'make a second NetworkConfiguration and move the Machines to it one by one',
  check({ network, old }) {
    const machines = machinesOn(old)
    if (!old || machines === 0) return []
    const moved = fixed.filter(field => !isDeepStrictEqual(meaningOf(network.spec, field), meaningOf(old.spec, field)))
    return moved.map(field =>
      breach(`spec.${field}`, `cannot change while ${machines} Machines use this network: make another NetworkConfiguration`)
    )
  }
}

const newMtu: NetworkRule = {
  id: 'W10',
  weight: 'warned',
  what: 'another mtu while Machines use the network',
  example: 'spec: {bridge: br0, mtu: 9000}',
  fix: 'restart the Machines when it suits',
  check: ({ network, old }) =>
    old && machinesOn(old) > 0 && network.spec.mtu !== old.spec.mtu
      ? [breach('spec.mtu', `the new MTU counts from the next start of each of the ${machinesOn(old)} Machines`)]
      : []
}

/** A17 in its parts, and the part of W10 that is about an update. */
export const networkRules: readonly NetworkRule[] = [oneKind, onlyOnBridge, addresses, inUse, newMtu]

/** With `old` it is judged as an update of that; whatever is on its way out, or leaves the spec as it was, is not judged (A18). */
export function checkNetworkConfiguration(network: NetworkConfiguration, old?: NetworkConfiguration): Verdict {
  const { metadata, spec } = network
  if (metadata.deletionTimestamp !== undefined || (old && isDeepStrictEqual(spec, old.spec)))
    return { violations: [], warnings: [] }
  const object = { apiVersion: apiVersion(NetworkConfiguration), kind: NetworkConfiguration.kind, metadata, spec }
  const wrong = typeErrors(openApiSchema(NetworkConfiguration), object)
  if (wrong.length > 0) return { violations: wrong.map(({ path, message }) => ({ path, message, id: 'A17' })), warnings: [] }
  return judge(networkRules, { network, old })
}

/** NC4: never refused, W10 only. */
export function checkNetworkDeletion(network: NetworkConfiguration): Verdict {
  const machines = machinesOn(network)
  const message = `${machines} Machines still refer to the NetworkConfiguration ${network.metadata.name}: they keep their present networks, but cannot be changed`
  return { violations: [], warnings: machines > 0 ? [{ id: 'W10', path: '', message }] : [] }
}
