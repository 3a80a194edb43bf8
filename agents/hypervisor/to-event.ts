// Facts as CloudEvents (spec/ha.md §2). Pure.
import type { DomainEvent } from 'node-libvirt'
import type { EventKind } from '../../shared/events/kind.ts'
import * as kinds from '../../shared/events/libvirt.ts'
import type { Domains, Found, Instance, Step } from './domains.ts'
import type { Fact } from './libvirt/fact.ts'

export interface Context {
  host: string
  bootId: string
  epoch: number
  at: string
}

/** What is to be told; the sender adds id, sequence and partition key. */
export interface Message {
  kind: EventKind
  data: object
  /** The domain that it is about, if it is about one. */
  server?: string
  /** A later message of the same key tells all that this one does. */
  supersedes?: string
  /** Bears the number of the message of this chain before it, so that a gap is seen (NA-13). */
  chain?: string
}

const crashed = new Set(['stopped/crashed', 'stopped/failed', 'crashed/panicked', 'crashed/crashloaded', 'suspended/api-error'])
const postcopy = new Set(['suspended/post-copy-failed', 'resumed/post-copy-failed'])
const stopped = new Set([
  'shutdown/by-guest',
  'shutdown/by-host',
  'shutdown/finished',
  'stopped/shutdown',
  'stopped/destroyed',
  'stopped/unknown'
])

/** Which event a change of a domain's life is, by ha.md §2. */
export function lifecycleKind(event: string, detail: string): EventKind {
  const what = `${event}/${detail}`
  if (postcopy.has(what)) return kinds.postcopyFailed
  if (crashed.has(what)) return kinds.domainCrashed
  if (stopped.has(what)) return kinds.domainStopped
  return kinds.domainChanged
}

export function toEvents(fact: Fact, step: Step, context: Context): Message[] {
  const { host, bootId, at } = context
  const base = { host, at, bootId, epoch: 'epoch' in fact ? fact.epoch : context.epoch }
  switch (fact.kind) {
    case 'connected':
      return [{ kind: kinds.libvirtRestored, data: base, supersedes: 'libvirt' }]
    case 'lost':
      return [{ kind: kinds.libvirtLost, data: { ...base, reason: fact.message }, supersedes: 'libvirt' }]
    case 'event':
      return [...ofDomain(fact.event, base, step.cause), ...delta(step, base)]
    case 'snapshot':
      return [...step.found.map(found => ofFound(found, base)), fullReport(step.domains, base)]
    case 'domain':
      return delta(step, base)
    case 'moving':
      return [
        {
          kind: kinds.migrationProgressed,
          data: { ...base, ...move(fact, host) },
          server: fact.id,
          supersedes: `moving/${fact.id}`
        }
      ]
    case 'moved':
      return [{ kind: kinds.migrationEnded, data: { ...base, ...move(fact, host), result: fact.result }, server: fact.id }]
    default:
      return []
  }
}

const move = ({ id, name, incoming, stats }: Extract<Fact, { kind: 'moving' | 'moved' }>, host: string) => ({
  server: id,
  name,
  ...(incoming ? { destination: host } : { origin: host }),
  stats
})

function ofFound({ id, name, event, detail, state }: Found, base: Context): Message {
  const about = { ...base, server: id, name }
  // the error itself was missed; which disk it was is to be asked for
  if (event === 'suspended' && detail === 'io-error')
    return { kind: kinds.diskFailed, data: { ...about, device: '', path: '', action: 'pause', reason: '' }, server: id }
  return { kind: lifecycleKind(event, detail), data: { ...about, event, detail, state }, server: id }
}

function ofDomain(event: DomainEvent, base: Context, cause: string | undefined): Message[] {
  const { uuid: server, name } = event.domain
  const about = { ...base, server, name }
  const message = (kind: EventKind, data: object = {}): Message[] => [{ kind, data: { ...about, ...data }, server }]
  switch (event.kind) {
    case 'lifecycle': {
      const [what, detail] = [String(event.event), String(event.detail)]
      return message(lifecycleKind(what, detail), { event: what, detail, ...(cause !== undefined && { cause }) })
    }
    case 'reboot':
      return message(kinds.domainRebooted)
    case 'watchdog':
      return message(kinds.watchdogFired, { action: String(event.action) })
    case 'io-error-reason': // the same as io-error (4), with the reason; only this one is told
      return message(kinds.diskFailed, {
        device: event.device,
        path: event.path,
        action: String(event.action),
        reason: event.reason
      })
    case 'control-error':
      return message(kinds.domainControlLost)
    case 'agent-lifecycle': {
      const reason = { reason: String(event.reason) }
      return event.state === 'connected'
        ? message(kinds.guestAgentConnected, reason)
        : message(kinds.guestAgentDisconnected, reason)
    }
    case 'memory-failure': {
      const { recipient, action, actionRequired, recursive } = event
      return message(kinds.memoryFailed, { recipient: String(recipient), action: String(action), actionRequired, recursive })
    }
    default:
      return [] // iterations and completed jobs are told as moves; other kinds were not asked for
  }
}

const entry = ({ id, name, active, state }: Instance) => ({ id, name, active, state })

export const fullReport = (domains: Domains, base: Context): Message => ({
  kind: kinds.instancesReported,
  data: { ...base, full: true, instances: [...domains.values()].map(entry) },
  supersedes: 'instances',
  chain: 'instances'
})

function delta({ changed, gone }: Step, base: Context): Message[] {
  if (changed.length === 0 && gone.length === 0) return []
  const left = gone.map(instance => ({ ...entry(instance), active: false, state: 'gone' }))
  const data = { ...base, full: false, instances: [...changed.map(entry), ...left] }
  return [{ kind: kinds.instancesReported, data, chain: 'instances' }]
}
