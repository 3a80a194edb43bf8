// The fleet as the commands read it: once, from the cluster.
import { KubeError, type Kube, type ListOptions } from '../kube/index.ts'
import { Eviction } from '../schema/eviction.ts'
import { Hypervisor } from '../schema/hypervisor.ts'
import type { Kind, KubeObject } from '../schema/kind.ts'
import { Migration } from '../schema/migration.ts'
import { OVSNode } from '../schema/ovs-node.ts'
import { arrivalsOf, countedElsewhere } from '../view/arrivals.ts'
import { evictionOf } from '../view/drain.ts'
import type { DetailObjects } from '../view/detail.ts'
import type { HostObjects } from '../view/host.ts'
import { Trouble } from './cluster.ts'
import { hint } from './nearest.ts'

/** What is not installed, or not for our eyes, is not shown. */
export async function listed<T extends KubeObject>(kube: Kube, kind: Kind<T>, options: ListOptions = {}): Promise<T[]> {
  try {
    return (await kube.list(kind, options)).items
  } catch (err) {
    if (err instanceof KubeError && (err.code === 'NotFound' || err.code === 'Forbidden')) return []
    throw err
  }
}

interface Fleet {
  hosts: HostObjects[]
  migrations: Migration[]
}

async function readFleet(kube: Kube): Promise<Fleet> {
  const [{ items }, evictions, ovsNodes, migrations] = await Promise.all([
    kube.list(Hypervisor, {}),
    listed(kube, Eviction),
    listed(kube, OVSNode),
    listed(kube, Migration)
  ])
  const arrivals = arrivalsOf(evictions, migrations)
  const hypervisors = new Map(items.map(hypervisor => [hypervisor.metadata.name, hypervisor]))
  const switches = new Map(ovsNodes.map(ovsNode => [ovsNode.metadata.name, ovsNode]))
  const hosts = items.map(hypervisor => ({
    hypervisor,
    eviction: evictionOf(hypervisor.metadata.name, evictions),
    ovsNode: switches.get(hypervisor.metadata.name),
    arriving: arrivals.get(hypervisor.metadata.name)?.size ?? 0,
    countedElsewhere: countedElsewhere(hypervisor, arrivals, host => hypervisors.get(host))
  }))
  return { hosts, migrations }
}

export const readHosts = async (kube: Kube): Promise<HostObjects[]> => (await readFleet(kube)).hosts

export async function readHost(kube: Kube, name: string): Promise<DetailObjects> {
  const { hosts, migrations } = await readFleet(kube)
  const found = hosts.find(({ hypervisor }) => hypervisor.metadata.name === name)
  if (!found) throw new Trouble(unknownHost(name, hosts))
  return { ...found, migrations, happenings: [] }
}

export function unknownHost(name: string, hosts: readonly HostObjects[]): string {
  const names = hosts.map(({ hypervisor }) => hypervisor.metadata.name)
  return `there is no host ${name}; ${hint(name, names, `\`drover get\` lists the ${names.length} there are`)}`
}
