// Finding what an action is about. What is not there is said in a sentence with what there is.
import type { Instance } from '../../openstack/index.ts'
import { isActive, type SimDomain } from '../domains/domain.ts'
import type { Fleet } from '../fleet.ts'
import type { SimHost } from '../host.ts'

/** Why an action was not done: nobody knows the thing, or it cannot be done to it now. */
export class Undoable extends Error {
  override readonly name = 'Undoable'
  readonly code: 'unknown' | 'conflict'
  constructor(code: Undoable['code'], message: string) {
    super(message)
    this.code = code
  }
}

const some = (names: Iterable<string>): string => {
  const all = [...names]
  return all.length > 8 ? `${all.slice(0, 8).join(', ')} and ${all.length - 8} more` : all.join(', ')
}

export function hostIn(fleet: Fleet, name: string): SimHost {
  const host = fleet.host(name)
  if (!host) throw new Undoable('unknown', `there is no host ${name}; there are ${some(fleet.hosts.keys())}`)
  if (!fleet.hasArrived(host))
    throw new Undoable('conflict', `${name} is not in the fleet yet; ${fleet.arrived} of ${fleet.hosts.size} hosts are`)
  return host
}

export function poweredHost(fleet: Fleet, name: string): SimHost {
  const host = hostIn(fleet, name)
  if (host.power === 'off') throw new Undoable('conflict', `${name} has no power`)
  return host
}

export function hostsOfZone(fleet: Fleet, zone: string): SimHost[] {
  const all = [...fleet.hosts.values()]
  const hosts = all.filter(({ plan }) => plan.zone === zone)
  if (hosts.length === 0)
    throw new Undoable('unknown', `there is no zone ${zone}; there are ${some(new Set(all.map(({ plan }) => plan.zone)))}`)
  return hosts
}

export function serverIn(fleet: Fleet, wanted: string): Instance {
  const { instances } = fleet.cloud.world
  const [, host, number] = /^([^/]+)\/(\d+)$/.exec(wanted) ?? []
  const found =
    instances.get(wanted) ??
    (host === undefined
      ? [...instances.values()].find(({ name }) => name === wanted)
      : serversOf(fleet, host)[Number(number) - 1])
  if (!found) throw new Undoable('unknown', `there is no server ${wanted}; \`drover sim fleet -o wide\` lists them`)
  return found
}

/** In the order in which they were made. */
const serversOf = (fleet: Fleet, host: string): Instance[] =>
  [...fleet.cloud.world.instances.values()].filter(instance => instance.host === host).sort((a, b) => a.number - b.number)

export interface Guest {
  instance: Instance
  host: SimHost
  domain: SimDomain
}

export function guestIn(fleet: Fleet, wanted: string): Guest {
  const instance = serverIn(fleet, wanted)
  const host = fleet.host(instance.host ?? '')
  if (host) hostIn(fleet, host.name)
  const domain = host?.domains.find(instance.id)
  if (!host || !domain) throw new Undoable('conflict', `${instance.name} is on no host that has power`)
  return { instance, host, domain }
}

export function runningGuest(fleet: Fleet, wanted: string): Guest {
  const guest = guestIn(fleet, wanted)
  if (!isActive(guest.domain)) throw new Undoable('conflict', `${guest.instance.name} does not run`)
  return guest
}
