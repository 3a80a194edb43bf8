// The only part of a pass with effects: what was decided is asked of Nova, each server for itself (EV-9).
import type { Cloud, Server } from 'openstack-sdk-lite'
import { OpenStackError } from 'openstack-sdk-lite'
import { disabledReason, mayEnable } from '../../shared/openstack/compute-service.ts'
import type { Listings } from '../../shared/openstack/listings.ts'
import { atMost } from './at-most.ts'
import { roomFor } from './capacity.ts'
import { manager, markOf } from './decide.ts'
import type { Step } from './step.ts'
import { refusalOf } from './failure.ts'
import type { Memory } from './memory.ts'
import type { Start } from './plan.ts'
import { isOpen } from './records.ts'
import type { Answers } from './reflect.ts'
import type { Call, Outcome, Refusal, Seen } from './seen.ts'

export interface Hands {
  cloud: Cloud
  listings: Listings
  memory: Memory
}

const parallel = 16
/** In one pass: so many calls in vain are enough. */
const mostRefused = 20
const done: Outcome = { ok: true }

export async function act(seen: Seen, step: Step, hands: Hands): Promise<Answers> {
  const host = await actOnHost(seen, step, hands)
  const calls = step.calls.flatMap(call => ('server' in call ? [call] : []))
  const answered = await atMost(parallel, calls, async call => [call.server, await answer(() => ask(call, hands.cloud))] as const)
  const called = new Map<string, Outcome>(answered)
  return { started: await startSome(seen, step, hands), called, ...(host && { host }) }
}

interface Chosen {
  start: Start
  /** EV-10: read right before the start */
  read: Outcome
  fresh: Server | undefined
}

/**
 * The first `free` servers of the plan, without two of one server group in flight together (EV-15): Nova could not keep them apart while both are
 * between two hosts. Groups are learned here, since Nova shows them for single servers only. Each is ordered as soon as it was read: the first
 * does not wait for the last.
 */
async function startSome(seen: Seen, { starts, free, moving }: Step, hands: Hands): Promise<Map<string, Outcome>> {
  const { cloud, memory } = hands
  const outcomes = new Map<string, Outcome>()
  let taken: Promise<Set<string>> | undefined
  const takeGroups = async (groups: readonly string[]): Promise<boolean> => {
    if (groups.length === 0) return true
    taken ??= atMost(parallel, moving, ({ server }) => groupsOf(server, cloud, memory)).then(all => new Set(all.flat()))
    const inFlight = await taken
    if (groups.some(group => inFlight.has(group))) return false
    for (const group of groups) inFlight.add(group)
    return true
  }
  let next = 0
  let slots = free
  let refusals = 0
  const lane = async (): Promise<void> => {
    for (let start = starts[next]; slots > 0 && start; start = starts[next]) {
      next += 1
      slots -= 1
      const chosen = await readAgain(start, cloud)
      if (chosen.fresh) memory.groups.set(start.server, chosen.fresh.groups)
      if (!(await takeGroups(chosen.fresh?.groups ?? []))) {
        slots += 1
        continue
      }
      const outcome = await begin(seen, chosen, hands)
      outcomes.set(start.server, outcome)
      // EV-12a: whom Nova refuses gives its place to the next; in an outage that would only be refused once more
      if (
        !outcome.ok &&
        outcome.kind !== 'Transient' &&
        outcome.kind !== 'Denied' &&
        !outcome.maybeDone &&
        ++refusals <= mostRefused
      )
        slots += 1
    }
  }
  await Promise.all(Array.from({ length: Math.min(parallel, free) }, lane))
  return outcomes
}

async function readAgain(start: Start, { servers }: Cloud): Promise<Chosen> {
  let fresh: Server | undefined
  const read = await answer(async () => {
    fresh = await servers.get(start.server)
  })
  return { start, read, fresh }
}

async function groupsOf(id: string, cloud: Cloud, { groups }: Memory): Promise<readonly string[]> {
  const known = groups.get(id)
  if (known) return known
  const { fresh } = await readAgain({ server: id, how: 'live', target: undefined, probe: false }, cloud)
  return fresh?.groups ?? []
}

/** A refusal or an outage is an outcome; anything else is a fault of ours. */
async function answer(run: () => Promise<unknown>): Promise<Outcome> {
  try {
    await run()
    return done
  } catch (err) {
    if (!(err instanceof OpenStackError)) throw err
    return refusalOf(err)
  }
}

/** EV-2: the host is disabled by whoever empties it, with a mark that tells who that was. */
async function actOnHost({ eviction, service }: Seen, { calls }: Step, { cloud, listings }: Hands): Promise<Outcome | undefined> {
  const call = calls.find(({ do: what }) => what === 'disable' || what === 'enable')
  if (!call || !service) return undefined
  if (call.do === 'enable' && !mayEnable(service, { takeover: false })) {
    return { ok: false, kind: 'Denied', message: `Disabled by somebody else: ${service.disabledReason ?? ''}`, maybeDone: false }
  }
  const why = disabledReason({ by: manager, why: `${markOf(eviction)} ${eviction.spec.reason}` })
  const change = call.do === 'enable' ? { status: 'enabled' as const } : { status: 'disabled' as const, disabledReason: why }
  const outcome = await answer(() => cloud.services.update(service.id, change))
  listings.forget('services')
  return outcome
}

type ServerCall = Extract<Call, { server: string }>

const orders: { [What in ServerCall['do']]: (cloud: Cloud, call: Extract<ServerCall, { do: What }>) => Promise<void> } = {
  abort: ({ migrations }, { server, record }) => migrations.abort(server, record),
  force: ({ migrations }, { server, record }) => migrations.forceComplete(server, record),
  confirm: ({ servers }, { server }) => servers.confirmResize(server),
  offload: ({ servers }, { server }) => servers.shelveOffload(server),
  reset: ({ servers }, { server }) => servers.resetState(server, 'active'),
  resume: ({ servers }, { server }) => servers.resume(server),
  suspend: ({ servers }, { server }) => servers.suspend(server),
  live: ({ servers }, { server, target }) => servers.liveMigrate(server, target),
  cold: ({ servers }, { server, target }) => servers.migrate(server, target),
  evacuate: ({ servers }, { server, target }) => servers.evacuate(server, target)
}

const ask = (call: ServerCall, cloud: Cloud): Promise<void> =>
  (orders[call.do] as (cloud: Cloud, call: ServerCall) => Promise<void>)(cloud, call)

/** Nova's own check of the task keeps two orders for one server from both being taken. */
async function begin({ host, hypervisor }: Seen, { start, read, fresh }: Chosen, { cloud }: Hands): Promise<Outcome> {
  const { server, how, target, probe } = start
  const refuse = (kind: Refusal, message: string): Outcome => ({ ok: false, kind, message, maybeDone: false })
  if (!read.ok) return refuse(read.kind, read.message)
  if (!fresh) return refuse('Gone', 'It was deleted meanwhile.')
  if (fresh.host !== host || (fresh.taskState !== null && how !== 'evacuate')) {
    return refuse('Transient', `It changed meanwhile: ${fresh.status} on ${fresh.host ?? 'no host'}.`)
  }
  if (how === 'evacuate' && (await isRescued(server, cloud))) return refuse('Transient', 'It is being rescued already.')
  if (probe && !(await hasRoom(fresh, hypervisor?.status?.hypervisorId, cloud))) {
    return refuse('NoCapacity', 'Placement still knows no host with room for it.')
  }
  return answer(() => ask({ do: how, server, ...(target && { target }) }, cloud))
}

/** HA-34: Nova would take a second order. When it cannot say, nobody is rescued. */
async function isRescued(server: string, { migrations }: Cloud): Promise<boolean> {
  let open = true
  await answer(async () => {
    open = (await migrations.list({ server, type: 'evacuation' })).some(isOpen)
  })
  return open
}

/** P11, before a server without a place troubles the scheduler again. When Placement cannot say, Nova is asked. */
async function hasRoom({ flavor }: Server, own: string | undefined, cloud: Cloud): Promise<boolean> {
  const room = flavor && (await roomFor(flavor, cloud))
  return !room || room.some(provider => provider !== own)
}
