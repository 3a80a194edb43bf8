// The webhook's rules for whoever has no webhook: an object from a file, judged as if it were created. Pure.
import { type Asked, defaultPolicy } from '../rules/asked.ts'
import { checkEviction } from '../rules/eviction.ts'
import { checkHypervisor } from '../rules/hypervisor.ts'
import { noFacts, type Known } from '../rules/machine-facts.ts'
import { checkMachine } from '../rules/machine.ts'
import { checkNetworkConfiguration } from '../rules/network-configuration.ts'
import { checkOVSNode } from '../rules/ovs-node.ts'
import type { Finding, Verdict } from '../rules/rule.ts'
import type { Crd } from '../schema/crd.ts'
import { withDefaults } from '../schema/defaults.ts'
import { Eviction } from '../schema/eviction.ts'
import { Hypervisor } from '../schema/hypervisor.ts'
import { apiVersion, type ObjectMeta } from '../schema/kind.ts'
import { Machine } from '../schema/machine.ts'
import { Migration } from '../schema/migration.ts'
import { NetworkConfiguration } from '../schema/network-configuration.ts'
import { isRecord, openApiSchema } from '../schema/openapi.ts'
import { OVSNode } from '../schema/ovs-node.ts'
import { structureErrors } from '../schema/structure.ts'
import { validate } from '../schema/validate.ts'

export interface Surroundings {
  /** A NetworkConfiguration that is among the files. */
  network(name: string, namespace: string): Known<NetworkConfiguration>
  enforce: boolean
}

interface Stored {
  metadata: ObjectMeta
}

const asked = <T extends Stored>(object: T, enforce: boolean): Asked<T> => ({
  operation: 'CREATE',
  object,
  hosts: { known: false },
  evictions: { known: false },
  policy: { ...defaultPolicy, enforce }
})

type Check = (object: never, around: Surroundings) => Verdict
const kinds: ReadonlyArray<[kind: Crd, check: Check]> = [
  [
    Machine,
    (machine: Machine, around) => {
      const { namespace = 'default' } = machine.metadata
      return checkMachine(machine, undefined, { ...noFacts, network: name => around.network(name, namespace) })
    }
  ],
  [NetworkConfiguration, (network: NetworkConfiguration) => checkNetworkConfiguration(network)],
  [Hypervisor, (host: Hypervisor, { enforce }) => checkHypervisor(asked(host, enforce))],
  [Eviction, (eviction: Eviction, { enforce }) => checkEviction(asked(eviction, enforce))],
  [OVSNode, (node: OVSNode, { enforce }) => checkOVSNode(asked(node, enforce))],
  [Migration, (migration: Migration) => ({ violations: validate(Migration, migration).map(bySchema), warnings: [] })]
]

const bySchema = <V extends object>(violation: V): V & { id: string } => Object.assign(violation, { id: 'schema' })
const refused = (path: string, message: string): Verdict => ({ violations: [{ id: 'schema', path, message }], warnings: [] })
const groups: ReadonlySet<string> = new Set(kinds.map(([{ group }]) => group))

/** Undefined for kinds that are not Drover's. */
export function checkObject(object: unknown, around: Surroundings): Verdict | undefined {
  if (!isRecord(object)) return refused('', 'is no object')
  const { apiVersion: version, kind } = object
  if (typeof version !== 'string' || typeof kind !== 'string') return refused('', 'has no apiVersion and kind')
  const [known, check] = kinds.find(([each]) => apiVersion(each) === version && each.kind === kind) ?? []
  if (!known || !check) {
    if (!groups.has(version.split('/')[0] ?? '')) return undefined
    const there = kinds.map(([each]) => `${each.kind} ${apiVersion(each)}`).join(', ')
    return refused('kind', `there is no ${kind} in ${version}; there are ${there}`)
  }
  if (!isRecord(object.metadata) || typeof object.metadata.name !== 'string') return refused('metadata.name', 'is required')
  // As the API server does before it asks a webhook: fill in the defaults, look for fields that nobody knows.
  const full = withDefaults(known, object)
  const { violations, warnings } = check(full as never, around)
  const told = new Set(violations.map(({ path }) => path))
  const further: Finding[] = structureErrors(openApiSchema(known), full, '')
    .map(bySchema)
    .filter(({ path }) => !told.has(path))
  return { violations: [...violations, ...further], warnings }
}
