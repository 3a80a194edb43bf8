// What may not be stored as a NetworkConfiguration (A17), and W10. Pure.
import { isDeepStrictEqual } from 'node:util'
import { apiVersion } from '../schema/kind.ts'
import { NetworkConfiguration } from '../schema/network-configuration.ts'
import { validate } from '../schema/validate.ts'
import type { Violation } from '../schema/violation.ts'
import type { Judgement } from './machine.ts'

const frozen = ['bridge', 'vlan', 'nadRef', 'podNetwork'] as const
type Spec = NetworkConfiguration['spec']

/** Absent, 0 and false all say "not that". */
const meaningOf = (spec: Spec, field: (typeof frozen)[number]): unknown => spec[field] || undefined

/** NC1 and the rest of the spec are in the schema; NC3 needs the object as it was. */
export function checkNetworkConfiguration(network: NetworkConfiguration, old?: NetworkConfiguration): Judgement {
  if (network.metadata.deletionTimestamp !== undefined || (old && isDeepStrictEqual(network.spec, old.spec))) return { violations: [], warnings: [] }
  const object = { apiVersion: apiVersion(NetworkConfiguration), kind: NetworkConfiguration.kind, ...network }
  const bySchema = validate(NetworkConfiguration, object, old)
  const machines = old?.status?.machineCount ?? 0
  if (!old || machines === 0) return { violations: bySchema, warnings: [] }
  const moved = frozen.filter(field => !isDeepStrictEqual(meaningOf(network.spec, field), meaningOf(old.spec, field)))
  const inUse = moved.map((field): Violation => ({ path: `spec.${field}`, message: `cannot change while ${machines} Machines use this network` }))
  const warnings = network.spec.mtu === old.spec.mtu ? [] : [`the new MTU counts from the next start of each of the ${machines} Machines`]
  return { violations: [...bySchema, ...inUse], warnings }
}

/** NC4: never refused. */
export function checkNetworkDeletion({ metadata, status }: NetworkConfiguration): Judgement {
  const machines = status?.machineCount ?? 0
  return { violations: [], warnings: machines > 0 ? [`${machines} Machines still refer to the NetworkConfiguration ${metadata.name}`] : [] }
}
