// What was told, and what is to be told now: raise and clear times, silence while a source is lost, damping of what flaps. Pure.
import { type Finding, finding as findingOf } from './finding.ts'
import { type Timings, type Topic, entryKey, issueTypes, topicOf, topicRow, topics } from './issue-types.ts'

export interface Entry {
  readonly finding: Finding
  readonly present: boolean
  /** When it last came or went, in milliseconds. */
  readonly since: number
  /** Set while it counts as an issue. It stays the same until the end, over restarts too (OV-30). */
  readonly detectedAt?: string
  /** The `detectedAt` of the raise that was last told and not yet taken back. */
  readonly told?: string
  /** When it came or went lately. */
  readonly changes: readonly number[]
  /** Since when it flaps. */
  readonly flapping?: string
}
export type Ledger = ReadonlyMap<string, Entry>

export type Outcome = { readonly kind: 'raised' | 'cleared' | 'flapped'; readonly finding: Finding; readonly detectedAt: string }

export interface Step {
  readonly ledger: Ledger
  /** Events, in the order in which they are to be told. */
  readonly outcomes: readonly Outcome[]
  /** Issues that are new: each is also an Event of Kubernetes (OV-49). */
  readonly fresh: readonly Finding[]
  /** When time alone changes something. */
  readonly dueAt: number | undefined
}

const flapsAt = 5
const order = Object.keys(topics)

/** `held`: what the topic is judged from is not known now. */
export function step(
  ledger: Ledger,
  findings: readonly Finding[],
  held: (topic: Topic) => boolean,
  timings: Timings,
  now: number
): Step {
  const found = new Map(findings.map(finding => [entryKey(finding.type, finding.object), finding]))
  const next = new Map<string, Entry>()
  const outcomes: Outcome[] = []
  const fresh: Finding[] = []
  const due: number[] = []
  for (const key of new Set([...ledger.keys(), ...found.keys()])) {
    const before = ledger.get(key)
    const finding = found.get(key)
    const latest = finding ?? before?.finding
    if (!latest) continue
    if (held(topicOf(latest.type))) {
      // what is open stays open; what was only on its way begins anew (OV-41)
      if (before?.detectedAt !== undefined || before?.told !== undefined) next.set(key, { ...before, present: true, since: now })
      continue
    }
    const entry = settle(seen(before, latest, finding !== undefined, timings, now), timings, now)
    for (const outcome of entry.outcomes) outcomes.push(outcome)
    const flaps = entry.after.flapping !== undefined
    if (flaps && before?.flapping === undefined) fresh.push(flapFinding(latest.object))
    if (!flaps && entry.after.detectedAt !== undefined && before?.detectedAt === undefined) fresh.push(entry.after.finding)
    if (entry.dueAt !== undefined) due.push(entry.dueAt)
    const { present, detectedAt, told, flapping, changes } = entry.after
    if (present || detectedAt !== undefined || told !== undefined || flapping !== undefined || changes.length > 0)
      next.set(key, entry.after)
  }
  const rank = ({ finding }: Outcome) => order.indexOf(topicOf(finding.type))
  outcomes.sort((a, b) => rank(a) - rank(b))
  return { ledger: next, outcomes, fresh, dueAt: due.length > 0 ? Math.min(...due) : undefined }
}

/** What is said of it while it flaps, and instead of what it does (OV-27). */
export const flapFinding = (object: string): Finding =>
  findingOf(
    'LinkFlapping',
    object,
    `${object} changed five times within a minute; no events are sent until it is stable. Check cable and transceiver.`
  )

/** The entry with what is seen now. */
function seen(before: Entry | undefined, finding: Finding, present: boolean, { flapWindowMs }: Timings, now: number): Entry {
  const recent = before?.changes.filter(at => now - at < flapWindowMs) ?? []
  if (before?.present === present) return { ...before, finding, changes: recent }
  const { link } = topicRow(topicOf(finding.type))
  return { ...before, finding, present, since: now, changes: link ? [...recent, now] : [] }
}

interface Settled {
  after: Entry
  outcomes: Outcome[]
  dueAt: number | undefined
}

function settle(entry: Entry, timings: Timings, now: number): Settled {
  const { finding, present, since } = entry
  const { raise, clear } = topicRow(topicOf(finding.type))
  const waitMs = (wait: number | keyof Timings) => (typeof wait === 'number' ? wait : timings[wait])
  const outcomes: Outcome[] = []
  const due: number[] = []
  let { detectedAt, told, flapping } = entry

  const wantedAt = since + waitMs(present ? raise : clear)
  if (present !== (detectedAt !== undefined)) {
    if (now < wantedAt) due.push(wantedAt)
    else detectedAt = present ? new Date(since).toISOString() : undefined
  }

  if (flapping === undefined && entry.changes.length >= flapsAt) {
    flapping = new Date(now).toISOString()
    outcomes.push({ kind: 'flapped', finding, detectedAt: flapping })
  }
  if (flapping !== undefined) {
    const calmAt = (entry.changes.at(-1) ?? since) + timings.flapWindowMs
    if (now < calmAt) due.push(calmAt)
    else flapping = undefined
  }
  if (flapping === undefined && detectedAt !== told) {
    if (told !== undefined) outcomes.push({ kind: 'cleared', finding, detectedAt: told })
    if (detectedAt !== undefined) outcomes.push({ kind: 'raised', finding, detectedAt })
    told = detectedAt
  }
  const { detectedAt: _detected, told: _told, flapping: _flapping, ...rest } = entry
  const after = {
    ...rest,
    ...(detectedAt !== undefined && { detectedAt }),
    ...(told !== undefined && { told }),
    ...(flapping !== undefined && { flapping })
  }
  return { after, outcomes, dueAt: due.length > 0 ? Math.min(...due) : undefined }
}

export interface StoredIssue {
  readonly type?: string
  readonly object?: string
  readonly message: string
  readonly detectedAt?: string
}

/** The ledger of an agent that starts: what the stored status lists was told already (OV-29). */
export function restore(issues: readonly StoredIssue[], now: number): Ledger {
  return new Map(
    issues.flatMap(({ type, object, message, detectedAt }) => {
      if (!(type !== undefined && Object.hasOwn(issueTypes, type)) || object === undefined || detectedAt === undefined) return []
      if (type === 'LinkFlapping') return []
      const known = type as Finding['type']
      const finding = findingOf(known, object, message)
      return [[entryKey(known, object), { finding, present: true, since: now, detectedAt, told: detectedAt, changes: [] }]]
    })
  )
}
