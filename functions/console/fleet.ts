// The fleet as it stands, kept by watches; whoever looks gets all of it once and then only what changed.
import type { Kube, Seen } from '../../shared/kube/index.ts'
import type { Kind, KubeObject } from '../../shared/schema/kind.ts'
import { Eviction } from '../../shared/schema/eviction.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { Machine } from '../../shared/schema/machine.ts'
import { Migration } from '../../shared/schema/migration.ts'
import { OVSNode } from '../../shared/schema/ovs-node.ts'
import { hostDetail } from '../../shared/view/detail.ts'
import { evictionOf } from '../../shared/view/drain.ts'
import { drainHappenings, hostHappenings } from '../../shared/view/happening.ts'
import { hostView } from '../../shared/view/host.ts'
import { machineView } from '../../shared/view/machine.ts'
import type { Happening, HostDetail, HostView, MachineView } from '../../shared/view/types.ts'

/** One message of the stream: after a `whole` one the rest are differences. */
export interface Update {
  whole?: true
  title: string
  hosts: HostView[]
  machines: MachineView[]
  happenings: Happening[]
  gone: { hosts: string[]; machines: string[] }
}

interface Store<T> {
  kind: Kind<T & KubeObject>
  objects: Map<string, T>
  keyOf: (object: KubeObject) => string
}

export interface Fleet {
  snapshot: () => Update
  detail: (host: string) => HostDetail | undefined
  /** Calls back with every change until the signal aborts. */
  follow: (listen: (update: Update) => void, signal: AbortSignal) => void
  ready: () => boolean
}

export interface FleetOptions {
  kube: Pick<Kube, 'watch'>
  title: string
  clock: () => Date
  signal: AbortSignal
  /** Changes that come within this time travel together. */
  batchMs: number
  onError: (err: unknown, kind: string) => void
}

const keptHappenings = 200
const keyOf = ({ metadata }: KubeObject): string =>
  metadata?.namespace ? `${metadata.namespace}/${metadata.name}` : (metadata?.name ?? '')
/** An OVSNode is named after its host, in the namespace of the agents. */
const nameOf = ({ metadata }: KubeObject): string => metadata?.name ?? ''
const store = <T extends KubeObject>(kind: Kind<T>, key = keyOf): Store<T> => ({ kind, objects: new Map(), keyOf: key })

export function watchFleet({ kube, title, clock, signal, batchMs, onError }: FleetOptions): Fleet {
  const hypervisors = store(Hypervisor)
  const evictions = store(Eviction)
  const ovsNodes = store(OVSNode, nameOf)
  const migrations = store(Migration)
  const machines = store(Machine)
  const listeners = new Set<(update: Update) => void>()
  const views = new Map<string, HostView>()
  let happenings: Happening[] = []
  const dirty = { hosts: new Set<string>(), machines: new Set<string>() }
  const fresh: Happening[] = []
  let timer: NodeJS.Timeout | undefined
  let listed = false

  const objectsOf = (hypervisor: Hypervisor) => ({
    hypervisor,
    eviction: evictionOf(hypervisor.metadata.name, [...evictions.objects.values()]),
    ovsNode: ovsNodes.objects.get(hypervisor.metadata.name)
  })

  function touch(hosts: Iterable<string>, touchedMachines: Iterable<string> = []): void {
    for (const host of hosts) dirty.hosts.add(host)
    for (const machine of touchedMachines) dirty.machines.add(machine)
    timer ??= setTimeout(flush, batchMs)
  }

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    const update: Update = { title, hosts: [], machines: [], happenings: fresh.splice(0), gone: { hosts: [], machines: [] } }
    for (const name of dirty.hosts) refresh(name, update)
    for (const key of dirty.machines) {
      const machine = machines.objects.get(key)
      if (machine) update.machines.push(machineView(machine))
      else update.gone.machines.push(key)
    }
    dirty.hosts.clear()
    dirty.machines.clear()
    happenings = [...update.happenings, ...happenings].slice(0, keptHappenings)
    for (const listen of listeners) listen(update)
  }

  function refresh(name: string, update: Update): void {
    const hypervisor = hypervisors.objects.get(name)
    if (!hypervisor) {
      if (views.delete(name)) update.gone.hosts.push(name)
      return
    }
    const before = views.get(name)
    const after = hostView(objectsOf(hypervisor), clock())
    if (JSON.stringify(before) === JSON.stringify(after)) return
    views.set(name, after)
    update.hosts.push(after)
    update.happenings.unshift(...hostHappenings(before, after, clock()))
  }

  async function keep<T extends KubeObject>({ kind, objects, keyOf }: Store<T>, changed: (seen: Seen<T>) => void): Promise<void> {
    try {
      for await (const seen of kube.watch(kind, { signal })) {
        if (seen.type === 'snapshot') {
          objects.clear()
          for (const object of seen.items) objects.set(keyOf(object), object)
        }
        changed(seen)
        if (seen.type === 'changed') objects.set(keyOf(seen.object), seen.object)
        if (seen.type === 'deleted') objects.delete(keyOf(seen.object))
      }
    } catch (err) {
      onError(err, kind.kind)
    }
  }

  const all = () => [...new Set([...views.keys(), ...hypervisors.objects.keys()])]
  const hostsOf = (seen: Seen<KubeObject>) => (seen.type === 'snapshot' ? all() : [nameOf(seen.object)])

  void keep(hypervisors, seen => {
    listed = true
    touch(hostsOf(seen))
    if (seen.type === 'snapshot') flush() // what comes after it is a change, however soon
  })
  void keep(ovsNodes, seen => touch(hostsOf(seen)))
  void keep(migrations, () => {})
  void keep(evictions, seen => {
    if (seen.type === 'snapshot') return touch(all())
    if (seen.type === 'changed')
      fresh.unshift(...drainHappenings(evictions.objects.get(keyOf(seen.object)), seen.object, clock()))
    touch([seen.object.spec?.hypervisor ?? ''])
  })
  void keep(machines, seen => touch([], seen.type === 'snapshot' ? machines.objects.keys() : [keyOf(seen.object)]))

  return {
    ready: () => listed,
    snapshot: () => ({
      whole: true,
      title,
      hosts: [...hypervisors.objects.values()].map(hypervisor => hostView(objectsOf(hypervisor), clock())),
      machines: [...machines.objects.values()].map(machineView),
      happenings,
      gone: { hosts: [], machines: [] }
    }),
    detail(host) {
      const hypervisor = hypervisors.objects.get(host)
      if (!hypervisor) return undefined
      return hostDetail({ ...objectsOf(hypervisor), migrations: [...migrations.objects.values()], happenings }, clock())
    },
    follow(listen, until) {
      listeners.add(listen)
      until.addEventListener('abort', () => listeners.delete(listen), { once: true })
    }
  }
}
