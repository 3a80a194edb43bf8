// The fleet as it stands, kept by watches; whoever looks gets all of it once and then only what changed.
import { Event } from '../kube/kinds.ts'
import type { Kube, Seen } from '../kube/index.ts'
import type { KubeObject } from '../schema/kind.ts'
import { Eviction } from '../schema/eviction.ts'
import { Hypervisor } from '../schema/hypervisor.ts'
import { Machine } from '../schema/machine.ts'
import { Migration } from '../schema/migration.ts'
import { OVSNode } from '../schema/ovs-node.ts'
import { chronicle } from './chronicle.ts'
import { hostDetail } from './detail.ts'
import { arrivalsOf, countedElsewhere, type Arrivals } from './arrivals.ts'
import { destinationsOf, evictionOf } from './drain.ts'
import { drainHappenings, hostHappenings } from './happening.ts'
import { hostView } from './host.ts'
import { keep, keyOf, nameOf, store } from './kept.ts'
import { machineView } from './machine.ts'
import { networkDetail } from './network.ts'
import { deadLetter, letterView, toldHappening, toldKinds } from './told.ts'
import type { Happening, HostDetail, HostView, LetterView, NetworkView, Update } from './types.ts'

export interface Fleet {
  snapshot: () => Update
  detail: (host: string) => HostDetail | undefined
  networks: () => NetworkView[]
  /** The newest ones, the newest first. */
  happenings: () => readonly Happening[]
  /** Calls back with every change until the signal aborts. */
  follow: (listen: (update: Update) => void, signal: AbortSignal) => void
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

const keptLetters = 200

export function watchFleet({ kube, title, clock, signal, batchMs, onError }: FleetOptions): Fleet {
  const hypervisors = store(Hypervisor)
  const evictions = store(Eviction)
  /** An OVSNode is named after its host, in the namespace of the agents. */
  const ovsNodes = store(OVSNode, nameOf)
  const migrations = store(Migration)
  const machines = store(Machine)
  const letters = new Map<string, LetterView>()
  const listeners = new Set<(update: Update) => void>()
  const views = new Map<string, HostView>()
  const past = chronicle()
  const dirty = { hosts: new Set<string>(), machines: new Set<string>(), letters: false }
  const fresh: Happening[] = []
  let timer: NodeJS.Timeout | undefined

  const arrivalsNow = (): Arrivals => arrivalsOf(evictions.objects.values(), migrations.objects.values())
  const objectsOf = (hypervisor: Hypervisor, arrivals: Arrivals) => {
    const { name } = hypervisor.metadata
    return {
      hypervisor,
      eviction: evictionOf(name, [...evictions.objects.values()]),
      ovsNode: ovsNodes.objects.get(name),
      arriving: arrivals.get(name)?.size ?? 0,
      countedElsewhere: countedElsewhere(hypervisor, arrivals, host => hypervisors.objects.get(host))
    }
  }

  function touch(hosts: Iterable<string>): void {
    for (const host of hosts) dirty.hosts.add(host)
    timer ??= setTimeout(flush, batchMs)
  }

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    const arrivals = arrivalsNow()
    // a VM that left is counted where it came to
    for (const [to, arriving] of arrivals) if ([...arriving.values()].some(from => dirty.hosts.has(from))) dirty.hosts.add(to)
    const update: Update = {
      title,
      hosts: [],
      machines: [],
      happenings: [],
      gone: { hosts: [], machines: [] },
      stirred: [...dirty.hosts],
      ...(dirty.letters && { letters: lettersNow() })
    }
    for (const name of dirty.hosts) refresh(name, update, arrivals)
    for (const key of dirty.machines) {
      const machine = machines.objects.get(key)
      if (machine) update.machines.push(machineView(machine))
      else update.gone.machines.push(key)
    }
    update.happenings.push(...fresh.splice(0))
    dirty.hosts.clear()
    dirty.machines.clear()
    dirty.letters = false
    past.add(update.happenings)
    for (const listen of listeners) listen(update)
  }

  function refresh(name: string, update: Update, arrivals: Arrivals): void {
    const hypervisor = hypervisors.objects.get(name)
    if (!hypervisor) {
      past.forget(name)
      if (views.delete(name)) update.gone.hosts.push(name)
      return
    }
    const before = views.get(name)
    const after = hostView(objectsOf(hypervisor, arrivals), clock())
    if (JSON.stringify(before) === JSON.stringify(after)) return
    views.set(name, after)
    update.hosts.push(after)
    update.happenings.push(...hostHappenings(before, after, clock()))
  }

  const lettersNow = (): LetterView[] =>
    [...letters.values()].toSorted((a, b) => b.time.localeCompare(a.time)).slice(0, keptLetters)
  const all = () => [...new Set([...views.keys(), ...hypervisors.objects.keys()])]
  const hostsOf = (seen: Seen<KubeObject>) => (seen.type === 'snapshot' ? all() : [nameOf(seen.object)])
  const keeping = { kube, signal, onError }

  void keep(keeping, hypervisors, seen => {
    touch(hostsOf(seen))
    if (seen.type === 'snapshot') flush() // what comes after it is a change, however soon
  })
  void keep(keeping, ovsNodes, seen => touch(hostsOf(seen)))
  void keep(keeping, migrations, seen => {
    const changed = seen.type === 'snapshot' ? seen.items : [seen.object]
    touch(changed.flatMap(({ status }) => [status?.origin ?? [], status?.destination ?? []].flat()))
  })
  void keep(keeping, evictions, seen => {
    if (seen.type === 'snapshot') return touch(all())
    const before = evictions.objects.get(keyOf(seen.object))
    if (seen.type === 'changed') fresh.unshift(...drainHappenings(before, seen.object, clock()))
    touch([seen.object.spec?.hypervisor ?? '', ...destinationsOf(before), ...destinationsOf(seen.object)])
  })
  void keep(keeping, machines, seen => {
    for (const key of seen.type === 'snapshot' ? machines.objects.keys() : [keyOf(seen.object)]) dirty.machines.add(key)
    touch([])
  })
  for (const kind of toldKinds) void hear(kind)
  void receiveLetters()

  /** Of Kubernetes' Events only those about our kinds: a cluster has many others. */
  async function hear(kind: string): Promise<void> {
    const hostOf = (name: string) => evictions.objects.get(name)?.spec?.hypervisor
    try {
      for await (const seen of kube.watch(Event, { signal, fieldSelector: `regarding.kind=${kind}` })) {
        if (seen.type === 'deleted') continue // the server forgets, we keep the newest
        const told = (seen.type === 'snapshot' ? seen.items : [seen.object]).map(event => toldHappening(event, hostOf))
        if (seen.type === 'snapshot') past.add(told)
        else fresh.push(...told)
        touch(told.map(({ about }) => about))
      }
    } catch (err) {
      onError(err, `Events of ${kind}`)
    }
  }

  async function receiveLetters(): Promise<void> {
    try {
      for await (const seen of kube.watch(Event, { signal, fieldSelector: `reason=${deadLetter.reason}` })) {
        if (seen.type === 'snapshot') letters.clear()
        for (const event of seen.type === 'snapshot' ? seen.items : [seen.object]) {
          if (seen.type === 'deleted') letters.delete(nameOf(event))
          else letters.set(nameOf(event), letterView(event))
        }
        dirty.letters = true
        touch([])
      }
    } catch (err) {
      onError(err, 'dead letters')
    }
  }

  return {
    snapshot() {
      const arrivals = arrivalsNow()
      return {
        whole: true,
        title,
        hosts: [...hypervisors.objects.values()].map(hypervisor => hostView(objectsOf(hypervisor, arrivals), clock())),
        machines: [...machines.objects.values()].map(machineView),
        happenings: [...past.all()],
        letters: lettersNow(),
        gone: { hosts: [], machines: [] },
        stirred: []
      }
    },
    detail(host) {
      const hypervisor = hypervisors.objects.get(host)
      if (!hypervisor) return undefined
      return hostDetail(
        { ...objectsOf(hypervisor, arrivalsNow()), migrations: [...migrations.objects.values()], happenings: past.of(host) },
        clock()
      )
    },
    networks: () => [...ovsNodes.objects.values()].flatMap(node => networkDetail(node) ?? []),
    happenings: past.all,
    follow(listen, until) {
      listeners.add(listen)
      until.addEventListener('abort', () => listeners.delete(listen), { once: true })
    }
  }
}
