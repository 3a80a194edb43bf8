// Servers of Nova as domains on their hosts. An event is a hint: after each, what should be where is derived from Nova and made so,
// as nova-compute would do it, and libvirt tells of every step.
import type { Instance, World } from '../openstack/index.ts'
import type { DomainSpec, SimDomain } from './domains/domain.ts'
import type { SimHost } from './host.ts'

interface Move {
  record: World['migrations'][number]
  from: SimHost
  to: SimHost
  startedMs: number
}

const power = { running: 1, paused: 3 } as const // nova/objects/fields.py: InstancePowerState

export const specOfServer = ({ id, name, flavor }: Instance): DomainSpec => ({
  uuid: id,
  name,
  vcpus: flavor.vcpus,
  memoryMiB: flavor.ramMiB
})

export class Guests {
  readonly #world: World
  readonly #hosts: ReadonlyMap<string, SimHost>
  readonly #places = new Map<string, SimHost>()
  readonly #moves = new Map<string, Move>()
  readonly #note: (what: string) => void

  constructor(world: World, hosts: ReadonlyMap<string, SimHost>, note: (what: string) => void) {
    this.#world = world
    this.#hosts = hosts
    this.#note = note
  }

  /** Follows what Nova does from now on; returns what ends it. */
  watch(): () => void {
    const watcher = (instance: Instance): void => this.follow(instance)
    this.#world.watchers.add(watcher)
    return () => this.#world.watchers.delete(watcher)
  }

  follow(instance: Instance): void {
    const move = this.#moves.get(instance.id)
    if (move && instance.host === move.to.name) return this.#arrived(instance, move)
    if (move && move.record.status === 'running') return
    if (move) return this.#turnedBack(instance, move)
    const record = this.#world.migrations.find(one => one.instance === instance && one.status === 'running')
    const [from, to] = [this.#places.get(instance.id), this.#hosts.get(record?.target ?? '')]
    const leaves = record?.type === 'live-migration' && record.source === instance.host // a dead record may be of a place before
    if (leaves && to && from?.power === 'on') this.#begin(instance, record, from, to)
    else this.#settle(instance)
  }

  /** After a boot: Nova starts what it thinks should run. */
  resume(host: SimHost): void {
    for (const instance of this.#world.instances.values()) if (instance.host === host.name) this.follow(instance)
  }

  /** The host's power goes: what was leaving it has no source any more. */
  lose(host: SimHost): void {
    for (const [id, { from, to }] of this.#moves) {
      if (from !== host) continue
      this.#moves.delete(id)
      const guest = to.domains.find(id)
      if (guest) to.domains.turnBack(guest)
      to.vswitch.unplug(id)
    }
  }

  #begin(instance: Instance, record: Move['record'], from: SimHost, to: SimHost): void {
    const domain = from.domains.find(instance.id)
    if (!domain) return
    this.#moves.set(instance.id, { record, from, to, startedMs: this.#world.clock.now() })
    to.domains.arrive(specOfServer(instance))
    to.vswitch.plug(instance.id, false)
    from.domains.beginMove(domain, this.#world.hosts.get(from.name)?.liveMoveMs ?? 0)
    this.#note(`${instance.name} moves from ${from.name} to ${to.name}`)
  }

  #arrived(instance: Instance, { from, to, startedMs }: Move): void {
    this.#moves.delete(instance.id)
    this.#places.set(instance.id, to)
    const [left, here] = [from.domains.find(instance.id), to.domains.find(instance.id)]
    if (left) from.domains.endMove(left)
    from.vswitch.unplug(instance.id)
    if (here) to.domains.arrived(here, this.#world.clock.now() - startedMs)
    to.vswitch.plug(instance.id, true)
    this.#note(`${instance.name} runs on ${to.name}`)
  }

  #turnedBack(instance: Instance, { from, to, record }: Move): void {
    this.#moves.delete(instance.id)
    const [stays, guest] = [from.domains.find(instance.id), to.domains.find(instance.id)]
    if (guest) to.domains.turnBack(guest)
    to.vswitch.unplug(instance.id)
    if (stays) from.domains.failMove(stays)
    this.#note(`the move of ${instance.name} from ${from.name} to ${to.name} has ${record.status}`)
    this.#settle(instance)
  }

  #settle(instance: Instance): void {
    const exists = this.#world.instances.has(instance.id) && instance.launchedMs !== null
    const wanted = exists ? this.#hosts.get(instance.host ?? '') : undefined
    const place = this.#places.get(instance.id)
    if (place && place !== wanted) this.#leave(place, instance.id)
    if (!wanted) return
    this.#places.set(instance.id, wanted)
    if (wanted.power === 'off') return
    const known = wanted.domains.find(instance.id)
    this.#match(wanted, known ?? wanted.domains.define(specOfServer(instance)), instance.powerState)
  }

  #match({ domains, vswitch }: SimHost, domain: SimDomain, wanted: number): void {
    const runs = wanted === power.running || wanted === power.paused
    if (runs) {
      domains.start(domain)
      if (wanted === power.paused) domains.pause(domain, 'user')
      else domains.resume(domain)
    } else domains.stop(domain, 'shutdown')
    vswitch.plug(domain.uuid, runs)
  }

  #leave(host: SimHost, id: string): void {
    this.#places.delete(id)
    const domain = host.domains.find(id)
    if (!domain) return
    host.domains.stop(domain, 'destroyed')
    host.domains.undefine(domain)
    host.vswitch.unplug(id)
  }
}
