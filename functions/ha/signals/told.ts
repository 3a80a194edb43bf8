// What only an event can tell of a host: a shutdown, failing memory, a dead kernel. Pure.
import { iso, ms } from '../incident.ts'
import type { Policy } from '../policy.ts'
import type { Heard } from '../heard.ts'
import type { Seen, Signal } from '../seen.ts'
import type { Found } from './found.ts'

/** Only an event tells these: they are kept in the status until they are over. */
export function ofEvents({ hypervisor, heard, policy }: Seen, nowMs: number): Found[] {
  const before = hypervisor.status?.ha?.signals ?? []
  const told = heard.filter(one => one.about === 'host')
  return [
    ...shutdown(before, told, hypervisor.status?.agent?.bootId),
    ...memory(sinceBoot(before, hypervisor.status?.agent), told, policy, nowMs),
    ...kernel(before, told, nowMs)
  ]
}

type Agent = NonNullable<Seen['hypervisor']['status']>['agent']
type ToldOfHost = Extract<Heard, { about: 'host' }>

/** Ends when it is called off, or when the host has booted anew. */
function shutdown(before: readonly Signal[], told: readonly ToldOfHost[], bootId: string | undefined): Found[] {
  const known = before.find(({ kind }) => kind === 'ShutdownRequested')
  let atMs = known && { at: ms(known.since), boot: known.object ?? '' }
  for (const one of told) {
    if (one.kind === 'ShutdownRequested' && one.atMs >= (atMs?.at ?? 0)) atMs = { at: one.atMs, boot: one.bootId }
    if (one.kind === 'ShutdownCancelled' && one.atMs >= (atMs?.at ?? 0)) atMs = undefined
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

/** A host that booted since its memory last failed was looked after, and begins anew: else nobody could ever take it back into service. */
function sinceBoot(before: readonly Signal[], agent: Agent): readonly Signal[] {
  const bootedMs = ms(agent?.lastHeartbeat) - (agent?.uptimeSeconds ?? Number.NaN) * 1000
  return before.filter(({ kind, lastSeen }) => kind !== 'MemoryFailing' || !(bootedMs > ms(lastSeen)))
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
