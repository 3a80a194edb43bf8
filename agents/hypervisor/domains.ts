// The domains of the host, as far as facts have told. Pure: a fact and the time in, the new state and what nobody had told out.
import type { DomainEvent } from 'node-libvirt'
import type { DomainFigures } from './figures/domain.ts'
import { unreadable, type Control, type DomainRead, type Fact } from './libvirt/fact.ts'

export interface Instance {
  id: string
  name: string
  active: boolean
  state: string
  since: string
  /** It was so already when this process first looked: `since` is only the time of the look. */
  already?: true
  figures?: DomainFigures
  /** Since libvirt once could not manage it, in this state: whether it can. */
  control?: Control & { checkedAt: string }
  /** Who began its end, guest or host; told with the end. */
  shutdown?: string
}

export type Domains = ReadonlyMap<string, Instance>

/** A change that was seen in a listing, and that no event had told: it happened while nobody listened. */
export interface Found {
  id: string
  name: string
  event: string
  detail: string
  state: string
}

export interface Step {
  domains: Domains
  found: readonly Found[]
  /** The instances that differ, for the report; `gone` by id. */
  changed: readonly Instance[]
  gone: readonly Instance[]
  /** Of a stop: who asked for it, as the shutdown before it said. */
  cause?: string
}

const inactive = new Set(['off', 'crashed', 'no-state'])
const isActive = (state: string): boolean => !inactive.has(state)

const stateAfter: Readonly<Record<string, string>> = {
  started: 'running',
  resumed: 'running',
  suspended: 'paused',
  stopped: 'off',
  crashed: 'crashed',
  'pm-suspended': 'pm-suspended'
}

/** Before the first listing nothing is known, and so nothing of it is news. */
export function step(known: Domains | undefined, fact: Fact, at: string): Step {
  const domains = known ?? new Map()
  if (fact.kind === 'snapshot') {
    if (known === undefined) return { ...takeSnapshot(domains, fact.domains, new Set(), at, true), found: [] }
    return takeSnapshot(domains, fact.domains, fact.except ?? new Set(), at)
  }
  if (fact.kind === 'domain') return takeRead(domains, fact.id, fact.read, at)
  if (fact.kind === 'event') return takeEvent(domains, fact.event, at)
  return same(domains)
}

const same = (domains: Domains): Step => ({ domains, found: [], changed: [], gone: [] })

/** A read that failed changes nothing of what is known (NA-9). */
const instanceOf = (read: DomainRead, before: Instance | undefined, at: string, first = false): Instance => {
  const { id, name, state, figures = before?.figures } = read
  if (state === unreadable && before) return before
  const stays = before?.state === state
  const already = stays ? before.already === true : first
  return {
    id,
    name,
    active: isActive(state),
    state,
    since: stays ? before.since : at,
    ...(already && { already }),
    ...(figures && { figures }),
    ...controlOf(read, stays ? before : undefined, at)
  }
}

/** A domain that changed its state is managed, or another process; one that is fine is said to be so until it is read again. */
function controlOf({ control }: DomainRead, before: Instance | undefined, at: string): Pick<Instance, 'control'> {
  if (control) return { control: { ...control, checkedAt: at } }
  return before?.control && before.control.state !== 'ok' ? { control: before.control } : {}
}

const differs = (before: Instance | undefined, { name, state }: Instance): boolean =>
  before?.name !== name || before.state !== state

function takeSnapshot(
  domains: Domains,
  reads: readonly DomainRead[],
  except: ReadonlySet<string>,
  at: string,
  first = false
): Step {
  const next = new Map<string, Instance>()
  const found: Found[] = []
  const changed: Instance[] = []
  for (const read of reads) {
    const before = domains.get(read.id)
    const after = except.has(read.id) && before ? before : instanceOf(read, before, at, first)
    next.set(read.id, after)
    if (!differs(before, after)) continue
    changed.push(after)
    if (before === undefined || before.state !== after.state)
      found.push({ ...foundAs(before, after, read.reason), state: after.state })
  }
  const gone: Instance[] = []
  for (const before of domains.values()) {
    if (next.has(before.id)) continue
    if (except.has(before.id)) next.set(before.id, before)
    else gone.push(before)
  }
  for (const { id, name, active } of gone) {
    found.push({ id, name, event: active ? 'stopped' : 'undefined', detail: 'unknown', state: 'gone' })
  }
  return { domains: sorted(next), found, changed, gone }
}

/** The event that would have told it. The reason of a state has the words of the event's detail. */
function foundAs(before: Instance | undefined, { id, name, state }: Instance, reason: string): Omit<Found, 'state'> {
  if (before === undefined && !isActive(state)) return { id, name, event: 'defined', detail: 'found' }
  if (state === 'off') return { id, name, event: 'stopped', detail: reason }
  if (state === 'crashed') return { id, name, event: 'crashed', detail: reason }
  if (state === 'paused') return { id, name, event: 'suspended', detail: reason }
  if (state === 'running') return { id, name, event: before?.active === true ? 'resumed' : 'started', detail: reason }
  return { id, name, event: state, detail: reason }
}

function takeRead(domains: Domains, id: string, read: DomainRead | undefined, at: string): Step {
  const before = domains.get(id)
  const next = new Map(domains)
  if (read === undefined) {
    next.delete(id)
    return { ...same(next), gone: before ? [before] : [] }
  }
  const after = instanceOf(read, before, at)
  next.set(id, after)
  return { ...same(before === undefined ? sorted(next) : next), changed: differs(before, after) ? [after] : [] }
}

/** Told at once; what a read of the domain says follows. A domain that only stops is not made known by that. */
function takeEvent(domains: Domains, told: DomainEvent, at: string): Step {
  if (told.kind !== 'lifecycle') return same(domains)
  const { uuid: id, name } = told.domain
  const before = domains.get(id)
  const state = stateAfter[told.event]
  if (told.event === 'shutdown' && before) return same(new Map(domains).set(id, { ...before, shutdown: String(told.detail) }))
  const begins = told.event === 'started' || told.event === 'resumed'
  if (state === undefined || (before === undefined && !begins) || before?.state === state) return same(domains)
  const after = instanceOf({ id, name, state, reason: '' }, before, at)
  const next = new Map(domains).set(id, after)
  const cause = told.event === 'stopped' ? before?.shutdown : undefined
  return { ...same(before === undefined ? sorted(next) : next), changed: [after], ...(cause !== undefined && { cause }) }
}

const sorted = (domains: Map<string, Instance>): Domains => new Map([...domains].sort(([a], [b]) => (a < b ? -1 : 1)))
