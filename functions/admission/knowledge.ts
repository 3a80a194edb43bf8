// All that a judgement may look up besides the object itself (A19): caches, and two questions to the API server with a budget.
import type { Kind, Kube, User } from '../../shared/kube/index.ts'
import { Secret } from '../../shared/kube/kinds.ts'
import { isActive } from '../../shared/rules/eviction.ts'
import { hostOf, type Host } from '../../shared/rules/fleet.ts'
import type { Known } from '../../shared/rules/machine-facts.ts'
import { Eviction } from '../../shared/schema/eviction.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { NetworkConfiguration } from '../../shared/schema/network-configuration.ts'
import { admittedHosts } from './admitted.ts'
import { watched, type WatchedOptions } from './watched.ts'

export interface Knowledge {
  network(name: string, namespace: string | undefined): Known<NetworkConfiguration>
  storageClass(name: string): Known<true>
  hosts(): Known<readonly Host[]>
  /** A host that is let go: away for whoever asks next. */
  letGo(host: Host): void
  evictions(): Known<readonly Eviction[]>
  secret(name: string, namespace: string): Promise<Known<true>>
  /** A14: false also when it cannot be established. */
  mayClone(user: User, namespace: string): Promise<boolean>
}

const StorageClass: Kind = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'StorageClass',
  plural: 'storageclasses',
  namespaced: false
}

/** Status and managedFields of a thousand Evictions would be most of the memory. */
const slim = (eviction: Eviction): Eviction | undefined =>
  isActive(eviction) ? { metadata: { name: eviction.metadata.name }, spec: eviction.spec } : undefined

/** Of the status, the cards on the network (W8) and their number (NC3). */
const slimNetwork = ({ metadata: { name, namespace }, spec, status }: NetworkConfiguration): NetworkConfiguration => ({
  metadata: { name, ...(namespace !== undefined && { namespace }) },
  spec,
  ...(status && { status: { ...(status.machines && { machines: status.machines }), machineCount: status.machineCount ?? 0 } })
})

export async function openKnowledge(kube: Kube, budgetMs: number, by: WatchedOptions): Promise<Knowledge> {
  const networks = watched(kube, NetworkConfiguration, slimNetwork, by)
  const classes = watched(kube, StorageClass, (): true => true, by)
  const admitted = admittedHosts(by.clock)
  const seenHost = (object: Hypervisor): Host => {
    const host = hostOf(object)
    admitted.seen(host)
    return host
  }
  const hosts = watched(kube, Hypervisor, seenHost, by)
  const evictions = watched(kube, Eviction, slim, by)
  await Promise.all([networks, classes, hosts, evictions].map(({ started }) => started))

  return {
    network: (name, namespace) => networks.get(name, namespace),
    storageClass: name => classes.get(name),
    hosts() {
      const found = hosts.all()
      return found.known && found.value ? { known: true, value: admitted.over(found.value) } : found
    },
    letGo(host) {
      const found = hosts.get(host.name)
      if (found.known && found.value?.available) admitted.add(host)
    },
    evictions: () => evictions.all(),
    secret: (name, namespace) =>
      within<Known<true>>(budgetMs, { known: false }, async () => {
        const found = await kube.find(Secret, name, namespace)
        return { known: true, value: found ? true : undefined }
      }),
    mayClone: (user, namespace) =>
      within(budgetMs, false, async () => {
        const access = { verb: 'create', group: 'cdi.kubevirt.io', resource: 'datavolumes', subresource: 'source', namespace }
        return (await kube.reviewAccess(user, access)).allowed
      })
  }
}

/** The answer, or what is said when there is none in time. */
async function within<T>(budgetMs: number, otherwise: T, ask: () => Promise<T>): Promise<T> {
  const late = Promise.withResolvers<T>()
  const timer = setTimeout(late.resolve, budgetMs, otherwise)
  try {
    return await Promise.race([ask(), late.promise])
  } catch {
    return otherwise // told as "not checked", or as a permission that could not be established
  } finally {
    clearTimeout(timer)
  }
}
