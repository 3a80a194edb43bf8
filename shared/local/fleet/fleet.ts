// The fleet: hosts with their agents, on the embedded OpenStack and Kubernetes API.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Kube } from '../../kube/index.ts'
import type { HistoryLine, ShownFleet } from '../../runtime/simulator.ts'
import type { FakeOpenStack, WorldClock } from '../openstack/index.ts'
import type { ActionName } from './actions/catalogue.ts'
import type { Args } from './actions/perform.ts'
import { makeRunFolder } from '../run-folder.ts'
import { Agents, slownessOf, type AgentsOptions } from './agents.ts'
import { Guests } from './guests.ts'
import { SimHost } from './host.ts'
import { applyNodes, applyNodeStatus, isOnboarded } from './nodes.ts'
import { hostMemoryMiB, planFleet, type FleetWishes } from './plan.ts'
import { machine } from './libvirt/documents.ts'
import { seeded, type Random } from './random.ts'

export interface FleetOptions extends Pick<AgentsOptions, 'kinds' | 'logs' | 'logLevel' | 'onFault'> {
  wishes: FleetWishes
  cloud: FakeOpenStack
  /** The user's own; hosts are made with it. */
  kubeconfig: string
}

const keptLines = 1000
const nodeGraceMs = 40_000 // kube-controller-manager's node-monitor-grace-period
const uptimeEveryMs = 5000
const atOnce = 8
/** Hosts that come into service at the same time. */
const together = 12
const lookMs = 500
const patienceMs = 60_000
const againMs = 5000

export class Fleet {
  readonly wishes: FleetWishes
  readonly cloud: FakeOpenStack
  readonly hosts = new Map<string, SimHost>()
  readonly agents = new Map<string, Agents>()
  readonly random: Random
  readonly guests: Guests
  readonly history: HistoryLine[] = []
  /** What ends a fault of Nova, of moves or of a zone, by its name. */
  readonly faults = new Map<string, () => void>()
  /** The actions that would undo what was done. */
  readonly undo = new Map<string, { name: ActionName; args: Args }>()
  nova: ShownFleet['nova'] = 'up'
  /** Settled when every host is in the fleet. */
  complete: Promise<void> = Promise.resolve()
  readonly #arrived = new Set<string>()
  readonly #begun = new Set<string>()
  readonly kube: Kube
  readonly #options: FleetOptions
  readonly #folder: string
  readonly #ends: Array<() => unknown> = []
  #closed = false

  constructor(options: FleetOptions, kube: Kube, folder: string) {
    this.#options = options
    this.wishes = options.wishes
    this.cloud = options.cloud
    this.kube = kube
    this.#folder = folder
    this.random = seeded(options.wishes.seed + 1)
    this.guests = new Guests(this.cloud.world, this.hosts, what => this.note(what))
  }

  get clock(): WorldClock {
    return this.cloud.world.clock
  }

  readonly onFault = (err: unknown): void => this.#options.onFault(err)

  readonly now = (): Date => new Date(this.clock.now())

  note(what: string): void {
    this.history.push({ at: this.now().toISOString(), what })
    if (this.history.length > keptLines) this.history.shift()
  }

  host(name: string): SimHost | undefined {
    return this.hosts.get(name)
  }

  /** Hosts of a large fleet come in one after the other; before that there is no Node, no daemon and no agent of it. */
  hasArrived({ name }: SimHost): boolean {
    return this.#arrived.has(name)
  }

  get arrived(): number {
    return this.#arrived.size
  }

  agentsOf(host: SimHost): Agents {
    return this.agents.get(host.name) as Agents
  }

  /** The first hosts are there when it resolves, the others come in behind them: `complete` tells when. */
  async start(): Promise<void> {
    this.#ends.push(this.guests.watch())
    for (const [at, plan] of planFleet(this.wishes).entries()) this.#add(plan, at)
    const all = [...this.hosts.values()].toSorted((a, b) => a.plan.number - b.plan.number) // from every zone at once
    await this.#bringIn(all.slice(0, together))
    const timer = setInterval(() => void this.#writeUptimes(), uptimeEveryMs * slownessOf(all.length))
    this.#ends.push(() => clearInterval(timer))
    this.complete = this.#bringInRest(all).catch(this.onFault)
  }

  /** May be done again when a part of it failed. */
  async #bringIn(hosts: readonly SimHost[]): Promise<void> {
    const off = hosts.filter(({ name }) => !this.#begun.has(name))
    await inGroups(off, async host => {
      await host.start()
      this.#begun.add(host.name)
    })
    await applyNodes(this.kube, hosts, this.now)
    await inGroups(hosts, async host => this.agentsOf(host).startAll())
    for (const { name } of hosts) this.#arrived.add(name)
  }

  /** A new host is work for a dozen functions in this very process: the next ones come when those before them are in service. */
  async #bringInRest(all: readonly SimHost[]): Promise<void> {
    let served = true // where no function brings hosts into service, waiting for it helps once at most
    for (let at = together; at < all.length && !this.#closed; at += together) {
      served &&= await this.#inService(all.slice(at - together, at))
      await this.#bringInAtLast(all.slice(at, at + together))
    }
  }

  #isOnboarded(name: string): Promise<boolean> {
    return isOnboarded(this.kube, name).catch((err: unknown) => {
      this.onFault(err)
      return false
    })
  }

  /** On a busy machine the API may not answer in time: the others must not stay away for that. */
  async #bringInAtLast(hosts: readonly SimHost[]): Promise<void> {
    while (!this.#closed)
      try {
        return await this.#bringIn(hosts)
      } catch (err) {
        this.onFault(err)
        await sleep(againMs)
      }
  }

  async #inService(hosts: readonly SimHost[]): Promise<boolean> {
    const end = this.clock.now() + patienceMs
    for (const { name } of hosts)
      while (!(await this.#isOnboarded(name))) {
        if (this.#closed || this.clock.now() >= end) return false
        await sleep(lookMs)
      }
    return true
  }

  /** What a host does not do any more, others notice after their grace periods: Nova (service_down_time) and Kubernetes. */
  async powerOff(host: SimHost): Promise<void> {
    await this.agentsOf(host).stopAll()
    await host.cutPower()
    this.cloud.killAgent(host.name)
    this.clock.after(nodeGraceMs, () => host.power === 'off' && this.#tellNode(host))
  }

  async powerOn(host: SimHost): Promise<void> {
    await host.boot()
    this.cloud.startAgent(host.name)
    this.guests.resume(host)
    await this.agentsOf(host).startAll()
    this.#tellNode(host)
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const end of this.#ends.splice(0)) end()
    await this.complete
    const all = [...this.hosts.values()]
    await inGroups(all, async host => this.agentsOf(host).stopAll())
    await inGroups(all, async host => host.close())
    this.kube.close()
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 3 })
  }

  #tellNode(host: SimHost): void {
    if (!this.#closed) applyNodeStatus(this.kube, host, this.now()).catch(this.#options.onFault)
  }

  #add(plan: SimHost['plan'], at: number): void {
    const { cloud } = this
    const host = new SimHost({
      plan,
      folder: join(this.#folder, String(at)),
      clock: this.clock,
      newUuid: () => this.random.uuid(),
      bootedMs: this.clock.now() - (1 + this.random.below(200)) * 86_400_000
    })
    this.hosts.set(plan.name, host)
    const slowness = slownessOf(this.wishes.hosts)
    this.agents.set(plan.name, new Agents(host, { ...this.#options, clock: this.now, slowness }))
    const capacity = { VCPU: machine.cells * machine.cpusInCell, MEMORY_MB: hostMemoryMiB, DISK_GB: 60_000 }
    cloud.addHost({ name: plan.name, capacity, liveMoveMs: 4000 + this.random.below(6000), liveMoveLimit: 2 })
    joinAggregate(cloud, plan.zone, plan.name, plan.zone)
    joinAggregate(cloud, 'general', plan.name)
    for (const { id, name, flavor } of plan.vms) {
      cloud.addServer({ id, name, host: plan.name, zone: plan.zone, flavor: { ...flavor, requiredTraits: [] } })
    }
  }

  async #writeUptimes(): Promise<void> {
    for (const host of this.hosts.values())
      if (host.power === 'on' && this.hasArrived(host) && !this.#closed) await host.writeUptime()
  }
}

/** Everything that runs is in one folder below the temporary one, which is gone with the fleet. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const kube = await connect({ manager: 'drover-fleet', kubeconfig: options.kubeconfig })
  const fleet = new Fleet(options, kube, await makeRunFolder('f'))
  try {
    await fleet.start()
    return fleet
  } catch (err) {
    await fleet.close()
    throw err
  }
}

function joinAggregate(cloud: FakeOpenStack, name: string, host: string, zone?: string): void {
  const aggregate = cloud.world.aggregates.find(one => one.name === name) ?? cloud.addAggregate(name, zone)
  aggregate.hosts.push(host)
}

async function inGroups<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < all.length; at += atOnce) await Promise.all(all.slice(at, at + atOnce).map(work))
}
