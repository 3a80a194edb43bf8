// What only an event can tell of a host: a shutdown, failing memory, a dead kernel. Pure.
import { idOf, iso, ms } from '../incident.ts'
import type { Policy } from '../policy.ts'
import type { Heard } from '../heard.ts'
import type { Decision, Seen, Signal } from '../seen.ts'
import type { Found } from './found.ts'

/** Only an event tells these: they are kept in the status until they are over. */
export function ofEvents({ hypervisor, heard, policy }: Seen, nowMs: number): Found[] {
  const { ha, agent } = hypervisor.status ?? {}
  const before = ha?.signals ?? []
  const told = heard.filter(one => one.about === 'host')
  const bootedMs = ms(agent?.lastHeartbeat) - (agent?.uptimeSeconds ?? Number.NaN) * 1000
  // a host that booted since its memory failed was looked after, and begins anew: else nobody could ever take it back into service
  const since = (atMs: number): boolean => !(bootedMs > atMs)
  return [
    ...shutdown(before, told, agent?.bootId, calledOffMs(ha?.history)),
    ...memory(
      before.filter(({ kind, lastSeen }) => kind !== 'MemoryFailing' || since(ms(lastSeen))),
      told.filter(({ atMs }) => since(atMs)),
      policy,
      nowMs
    ),
    ...kernel(before, told, nowMs)
  ]
}

type ToldOfHost = Extract<Heard, { about: 'host' }>

const calledOff = 'CalledOff'

const calledOffMs = (history: readonly Decision[] = []): number =>
  Math.max(0, ...history.filter(({ state }) => state === calledOff).map(({ startedAt }) => ms(startedAt)))

/** A shutdown that was called off has its line in the history: a request that is told again after that is old news. */
export function shutdownsCalledOff({ hypervisor, heard }: Seen, nowMs: number): Decision[] {
  const { name } = hypervisor.metadata
  const knownMs = calledOffMs(hypervisor.status?.ha?.history)
  const times = heard.flatMap(one => (one.about === 'host' && one.kind === 'ShutdownCancelled' ? [one.atMs] : []))
  const atMs = Math.max(knownMs, ...times)
  if (atMs === knownMs) return []
  const decision: Decision = {
    decisionId: idOf(name, 'shutdown', atMs),
    kind: 'ShutdownRequested',
    state: calledOff,
    action: 'none',
    rule: 'ShutdownCancelled',
    reason: 'The shutdown of the host was called off.',
    startedAt: iso(atMs),
    finishedAt: iso(nowMs)
  }
  return [decision]
}

/** Ends when it is called off, or when the host has booted anew. */
function shutdown(
  before: readonly Signal[],
  told: readonly ToldOfHost[],
  bootId: string | undefined,
  calledOffMs: number
): Found[] {
  const known = before.find(({ kind }) => kind === 'ShutdownRequested')
  let atMs = known && { at: ms(known.since), boot: known.object ?? '' }
  let offMs = calledOffMs
  for (const one of told) {
    const isNewest = one.atMs >= Math.max(atMs?.at ?? 0, offMs)
    if (one.kind === 'ShutdownRequested' && isNewest) atMs = { at: one.atMs, boot: one.bootId }
    if (one.kind !== 'ShutdownCancelled' || !isNewest) continue
    atMs = undefined
    offMs = one.atMs
  }
  if (!atMs || (bootId !== undefined && bootId !== atMs.boot)) return []
  return [
    {
      kind: 'ShutdownRequested',
      object: atMs.boot,
      sinceMs: atMs.at,
      message: 'The host was asked to shut down: it is drained within its budget, and stops by the host belong to it.'
    }
  ]
}

function memory(before: readonly Signal[], told: readonly ToldOfHost[], { memory: rules }: Policy, nowMs: number): Found[] {
  const known = before.find(({ kind }) => kind === 'MemoryFailing')
  const fresh = told.filter(one => one.kind === 'MemoryFailing')
  const times = [...new Set([...(known?.times ?? []), ...fresh.map(({ atMs }) => iso(atMs))])]
    .filter(at => ms(at) > nowMs - rules.windowSeconds * 1000)
    .sort()
    .slice(-20)
  const fatal = fresh.find(one => one.fatal)
  // once it is enough it stays enough until the next boot: a module does not heal
  const was = known?.dueAt !== undefined
  const last = times.at(-1) ?? known?.lastSeen
  if (last === undefined) return []
  if (times.length === 0 && !was) return []
  const enough = was || fatal !== undefined || times.length >= rules.failures
  const sinceMs = known?.since ? ms(known.since) : ms(times[0])
  return [
    {
      kind: 'MemoryFailing',
      sinceMs,
      count: times.length,
      times,
      lastSeen: last,
      ...(enough && { disableAtMs: ms(was ? known?.dueAt : last), drain: rules.drain }),
      message: enough
        ? `Memory of the host fails (${times.length} in ${rules.windowSeconds} s${fatal ? ', one fatal' : ''}): it is alive, so it is emptied in time.`
        : `${times.length} of ${rules.failures} memory failures that are needed within ${rules.windowSeconds} s.`
    }
  ]
}

const kernelMs = 3_600_000

function kernel(before: readonly Signal[], told: readonly ToldOfHost[], nowMs: number): Found[] {
  const known = before.find(({ kind }) => kind === 'KernelCrashed')
  const atMs = Math.max(ms(known?.since) || 0, ...told.filter(({ kind }) => kind === 'KernelCrashed').map(one => one.atMs))
  if (atMs === 0 || nowMs - atMs > kernelMs) return []
  return [{ kind: 'KernelCrashed', sinceMs: atMs, message: 'A kernel dump of this host was found.' }]
}
