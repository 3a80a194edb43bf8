// Where servers would fit: Placement's word on each size (P11), and what the hosts of the zone say of themselves (EV-3).
import { type Cloud, OpenStackError, type Server } from 'openstack-sdk-lite'
import { findCondition, type Kube } from '../../shared/kube/index.ts'
import type { Listings } from '../../shared/openstack/listings.ts'
import type { Eviction } from '../../shared/schema/eviction.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { parseQuantity, toNumber } from '../../shared/schema/quantity.ts'
import { atMost } from './at-most.ts'
import { isExcluded } from './excluded.ts'
import { zoneOf } from './plan.ts'
import type { Capacity } from './seen.ts'

interface Eyes {
  kube: Pick<Kube, 'list'>
  cloud: Cloud
  listings: Listings
}

type Flavor = NonNullable<Server['flavor']>

const parallel = 4
const largest = 3
const mostSizes = 20

/** The providers that could take it now; undefined when Placement cannot say. */
export async function roomFor({ vcpus, ramMiB, extraSpecs }: Flavor, cloud: Cloud): Promise<string[] | undefined> {
  const required = Object.entries(extraSpecs).flatMap(([key, value]) =>
    key.startsWith('trait:') && value === 'required' ? [key.slice(6)] : []
  )
  try {
    const resources = { VCPU: vcpus, MEMORY_MB: ramMiB }
    const found = await cloud.allocationCandidates.list({
      resources,
      required,
      forbidden: ['COMPUTE_STATUS_DISABLED'],
      limit: 10
    })
    return found.map(({ provider }) => provider)
  } catch (err) {
    if (err instanceof OpenStackError) return undefined
    throw err
  }
}

/** A plan asks about every size; a check only about the largest, since what they fit others fit too. */
export async function capacityOf(
  { spec }: Eviction,
  hypervisor: Hypervisor,
  servers: readonly Server[],
  { kube, cloud, listings }: Eyes
): Promise<Capacity> {
  const going = servers.filter(server => !isExcluded(server, spec.exclude ?? []))
  const sizes = new Map(going.flatMap(({ flavor }) => (flavor ? [[sizeOf(flavor), flavor]] : [])))
  const asked = [...sizes.values()].toSorted((a, b) => b.ramMiB - a.ramMiB).slice(0, spec.dryRun ? mostSizes : largest)
  const hosts = new Map((await listings.hypervisors()).map(({ id, service }) => [id, service.host]))
  const own = hypervisor.status?.hypervisorId
  const rooms = new Map(await atMost(parallel, asked, async flavor => [sizeOf(flavor), await roomFor(flavor, cloud)] as const))
  const candidates = new Map(
    going.flatMap(({ id, flavor, host }) => {
      const room = flavor && rooms.get(sizeOf(flavor))
      const names = room?.filter(provider => provider !== own).map(provider => hosts.get(provider) ?? provider)
      return names ? [[id, names.filter(name => name !== host && allowed(name, spec)).toSorted()]] : []
    })
  )
  const needMiB = going.reduce((sum, { flavor }) => sum + (flavor?.ramMiB ?? 0), 0)
  return { candidates, needMiB, freeMiB: freeOf(hypervisor, (await kube.list(Hypervisor)).items) }
}

const allowed = (name: string, { targetHosts }: Eviction['spec']): boolean => !targetHosts?.length || targetHosts.includes(name)

const sizeOf = ({ vcpus, ramMiB, extraSpecs }: Flavor): string => JSON.stringify([vcpus, ramMiB, extraSpecs])

/** What Ready hosts of the zone have left; undefined when none of them says. */
function freeOf({ metadata, ...rest }: Hypervisor, all: readonly Hypervisor[]): number | undefined {
  const zone = zoneOf({ metadata, ...rest })
  const free = all
    .filter(other => other.metadata.name !== metadata.name && zoneOf(other) === zone)
    .filter(other => findCondition(other, 'Ready')?.status === 'True')
    .flatMap(({ status }) => {
      const { effectiveCapacity: { memory } = {}, allocation } = status ?? {}
      return memory === undefined ? [] : [mebibytes(memory) - mebibytes(allocation?.['memory'] ?? '0')]
    })
  return free.length > 0 ? free.reduce((sum, one) => sum + Math.max(0, one), 0) : undefined
}

const mebibytes = (text: string | number): number => toNumber(parseQuantity(text) ?? 0n) / 2 ** 20
