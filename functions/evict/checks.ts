// What must hold before the first move, each answer with its reason (EV-3). Pure.
import { plural } from '../../shared/view/time.ts'
import type { Judged } from './judge.ts'
import type { Check, Options, Peer, Seen } from './seen.ts'

export interface Preflight {
  checks: Check[]
  /** the first check that stands in the way */
  blocking?: Check
  /** EV-20: another Eviction rescues the servers of this host */
  rescued: boolean
}

const pass = (check: string, message: string): Check => ({ check, result: 'Pass', message })
const warn = (check: string, message: string): Check => ({ check, result: 'Warn', message })
const fail = (check: string, message: string): Check => ({ check, result: 'Fail', message })

export function preflight(seen: Seen, nowMs: number, options: Options): Preflight {
  const checks = [
    ids(seen),
    turn(seen),
    disabled(seen),
    alive(seen, nowMs, options),
    inventory(seen),
    targets(seen),
    ...capacity(seen)
  ]
  const blocking = checks.find(({ result }) => result === 'Fail')
  return { checks, ...(blocking && { blocking }), rescued: rescueOf(seen) !== undefined }
}

/** EV-1: a host that Nova does not know cannot be emptied, and cannot be called empty either. */
function ids({ hypervisor, host, service, alike, eviction }: Seen): Check {
  if (!hypervisor) return fail('ids', `There is no Hypervisor ${eviction.spec.hypervisor}.`)
  if (!service && alike.length > 0)
    return fail('ids', `AmbiguousHost: it may be ${alike.slice(0, 5).join(' or ')} in Nova, and nothing says which.`)
  if (!host || !service) return fail('ids', 'Nova has no compute service of this host.')
  return pass('ids', `Nova knows it as ${host}.`)
}

const rescueOf = ({ eviction, peers }: Seen): Peer | undefined =>
  eviction.spec.mode === 'evacuate'
    ? undefined
    : peers.find(peer => peer.hypervisor === eviction.spec.hypervisor && peer.mode === 'evacuate')

/** HV-13: one at a time for a host; a rescue does not wait for a drain. */
function turn(seen: Seen): Check {
  const { eviction, peers } = seen
  const { name, creationTimestamp = '' } = eviction.metadata
  const evacuates = eviction.spec.mode === 'evacuate'
  const first = peers.find(
    peer =>
      peer.hypervisor === eviction.spec.hypervisor &&
      (peer.mode === 'evacuate') === evacuates &&
      (peer.created < creationTimestamp || (peer.created === creationTimestamp && peer.name < name))
  )
  const rescue = rescueOf(seen)
  if (rescue) return fail('turn', `The Eviction ${rescue.name} rescues the servers of this host.`)
  return first
    ? fail('turn', `The Eviction ${first.name} of the same host is at work.`)
    : pass('turn', 'No other Eviction of this host is open.')
}

function disabled({ service }: Seen): Check {
  if (service?.status === 'disabled') return pass('disabled', `Disabled: ${service.disabledReason ?? 'no reason given'}.`)
  return service?.status === 'unknown'
    ? fail('disabled', 'Nova cannot say whether the compute service takes new servers: its cell does not answer.')
    : fail('disabled', 'The compute service takes new servers.')
}

/** EV-20: a dead host cannot be drained; whether its servers are rescued is for the ha function to decide. */
function alive({ eviction, service, hypervisor }: Seen, nowMs: number, { heartbeatStaleMs }: Options): Check {
  const isUp = service?.state === 'up'
  if (eviction.spec.mode === 'evacuate') {
    if (isUp) return fail('alive', 'Nova counts the host as up, and would refuse to rescue its servers.')
    return service?.state === 'down'
      ? pass('alive', 'Nova counts the host as down.')
      : fail('alive', 'Nova cannot say whether the host is down: its cell does not answer.')
  }
  if (!isUp)
    return fail(
      'alive',
      `HostDown: Nova does not hear from the compute service (${service?.state ?? 'unknown'}). See high availability.`
    )
  const last = hypervisor?.status?.agent?.lastHeartbeat
  if (last !== undefined && nowMs - Date.parse(last) > heartbeatStaleMs)
    return warn('alive', `The agent was last heard at ${last}.`)
  return pass('alive', 'Nova hears from the compute service.')
}

/** A server of a cell that does not answer is neither here nor gone. */
function inventory({ servers }: Seen): Check {
  const partial = servers.filter(({ partial }) => partial).map(({ id }) => id)
  if (partial.length > 0) return fail('inventory', `Nova cannot say what these are: ${partial.slice(0, 10).join(', ')}.`)
  return pass('inventory', `On the host: ${plural(servers.length, 'server')}.`)
}

function targets({ targets }: Seen): Check {
  return targets.length > 0
    ? pass('targets', `Enabled, up and in the zone: ${targets.slice(0, 10).join(', ')}${targets.length > 10 ? ' …' : ''}.`)
    : warn('targets', 'No other host of the zone is enabled and up.')
}

/** Asked once, before the first move: what it said then is kept. */
function capacity({ eviction, capacity: found, servers }: Seen): Check[] {
  if (!found) return eviction.status?.preflight?.filter(({ check }) => check === 'capacity') ?? []
  const bad = eviction.spec.requireCapacity ? fail : warn
  const homeless = servers.filter(({ id }) => found.candidates.get(id)?.length === 0)
  if (homeless.length > 0) {
    const names = homeless.slice(0, 5).map(({ id, flavor }) => `${id} (${flavor?.ramMiB ?? 0} MiB)`)
    return [bad('capacity', `Placement knows no host with room for ${names.join(', ')}.`)]
  }
  const { needMiB, freeMiB } = found
  if (freeMiB !== undefined && freeMiB < needMiB) {
    const text = `The servers need ${needMiB} MiB; Ready hosts of the zone have ${Math.floor(freeMiB)} MiB left.`
    return [bad('capacity', text)]
  }
  return [pass('capacity', `There is room for the largest of them${freeMiB === undefined ? '' : ' and for all together'}.`)]
}

export function planCheck(judged: readonly Judged[]): Check {
  const count = (is: (one: Judged) => boolean): number => judged.filter(is).length
  const stuck = count(({ entry }) => entry.state === 'Blocked' || entry.state === 'Failed')
  const live = count(({ candidate }) => candidate === 'live')
  const text = `Live ${live}, cold ${count(({ candidate }) => candidate === 'cold')}, blocked ${stuck}, of ${judged.length} servers.`
  return stuck > 0 ? warn('plan', text) : pass('plan', text)
}

/** EV-23: what libvirt only keeps on file does not keep the host from being empty. */
export function leftovers({ hypervisor, servers }: Seen): Check[] {
  const here = new Set(servers.map(({ id }) => id))
  const left = (hypervisor?.status?.instances ?? []).filter(({ id, active }) => !active && !here.has(id)).map(({ id }) => id)
  if (left.length === 0) return []
  const names = `${left.slice(0, 5).join(', ')}${left.length > 5 ? ' …' : ''}`
  return [warn('leftovers', `libvirt still has the definition of ${left.length}, which do not run: ${names}.`)]
}

/** EV-12a: told, since only a person can end them. */
export function deadRecords({ dead }: Seen): Check[] {
  if (dead.length === 0) return []
  const names = dead
    .slice(0, 5)
    .map(({ id, server, status, updated, created }) => `${id} of ${server} (${status} since ${updated ?? created})`)
  const more = dead.length > 5 ? ' …' : ''
  return [
    warn(
      'records',
      `Nova never ended ${plural(dead.length, 'migration')} that nobody carries out, and nobody waits for: ${names.join(', ')}${more}.`
    )
  ]
}

export const limitsCheck = ({ free, limit }: { free: number; limit: string }): Check =>
  free > 0 ? pass('limits', `${plural(free, 'move')} at a time (${limit}).`) : warn('limits', `Nothing may start now (${limit}).`)
