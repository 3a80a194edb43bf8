// PingSource: an event by the clock (knative.md §5).
import { Cron } from 'croner'
import { randomUUID } from 'node:crypto'
import { rfc3339, type Clock } from './clock.ts'
import type { Event } from './event.ts'
import type { PingSourceSpec } from './manifest-schema.ts'
import type { Named } from './manifests.ts'

const EVERY_MINUTE = '* * * * *'
const JITTER_MS = 500
/** A timer of Node's holds 24.8 days at most. */
const LONGEST_WAIT_MS = 86_400_000

/** What Knative's webhook refuses. */
export function pingProblems(spec: PingSourceSpec): string[] {
  const problems: string[] = []
  const schedule = spec.schedule ?? EVERY_MINUTE
  const problem = schedule.includes('@every') ? '@every is not supported' : cronProblem(schedule, spec.timezone)
  if (problem) problems.push(`invalid value: ${schedule}: spec.schedule: ${problem}`)
  if (spec.data !== undefined && spec.dataBase64 !== undefined)
    problems.push('expected exactly one, got both: spec.data, spec.dataBase64')
  else if (spec.contentType === 'application/json' && !isJsonObject(dataOf(spec))) problems.push('the data is not a JSON object')
  return problems
}

function cronProblem(schedule: string, timezone: string | undefined): string | undefined {
  try {
    cron(schedule, timezone).nextRun()
    return undefined
  } catch (err) {
    return (err as Error).message
  }
}

const cron = (schedule: string, timezone = 'UTC'): Cron => new Cron(schedule, { paused: true, mode: '5-or-6-parts', timezone })

function isJsonObject(data: Buffer): boolean {
  if (data.length === 0) return true
  try {
    const value: unknown = JSON.parse(data.toString())
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

const dataOf = ({ data, dataBase64 }: PingSourceSpec): Buffer =>
  dataBase64 === undefined ? Buffer.from(data ?? '') : Buffer.from(dataBase64, 'base64')

/** Ends when the clock is stopped. */
export function startPing(
  spec: PingSourceSpec,
  named: Named,
  clock: Clock,
  random: () => number,
  send: (event: Event) => void
): void {
  const schedule = cron(spec.schedule ?? EVERY_MINUTE, spec.timezone)
  const arm = (): void => {
    const next = schedule.nextRun(new Date(clock.now()))?.getTime()
    if (next === undefined) return
    waitUntil(next, clock, () => {
      clock.after(random() * JITTER_MS, () => send(pingEvent(spec, named, clock.now())))
      arm()
    })
  }
  arm()
}

function waitUntil(time: number, clock: Clock, call: () => void): void {
  const ms = time - clock.now()
  clock.after(Math.min(Math.max(ms, 0), LONGEST_WAIT_MS), () => (clock.now() < time ? waitUntil(time, clock, call) : call()))
}

export function pingEvent(spec: PingSourceSpec, { namespace, name }: Named, now: number): Event {
  return {
    attributes: {
      specversion: '1.0',
      id: randomUUID(),
      source: `/apis/v1/namespaces/${namespace}/pingsources/${name}`,
      type: 'dev.knative.sources.ping',
      time: rfc3339(now),
      ...(spec.contentType && { datacontenttype: spec.contentType }),
      ...spec.ceOverrides?.extensions
    },
    body: dataOf(spec)
  }
}
