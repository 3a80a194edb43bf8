// The ladder asked about one server at one moment, and what comes of it in one line: for tables of its steps.
import t from 'tap'
import type { Server } from 'openstack-sdk-lite'
import { judge } from '../../../functions/ha/ladder.ts'
import type { Attempt, Domain, Incident } from '../../../functions/ha/seen.ts'
import type { Judged, View } from '../../../functions/ha/view.ts'
import { factsOf, noted } from './facts.ts'
import { action, evidence, iso, startMs } from './fixtures.ts'

export const s = 1000
export const nowMs = startMs + 3 * s
const { incident: _, ...facts } = factsOf()
export const domain = (state: string, sinceMs = startMs): Domain => ({
  id: noted.server,
  name: 'instance-1',
  active: state === 'running',
  state,
  since: iso(sinceMs)
})
export const viewOf = (more: Partial<View> = {}): View => ({
  ...facts,
  domain: domain('off'),
  modes: { vm: 'drover', signals: 'drover' },
  askedMs: more.nowMs ?? nowMs,
  hold: undefined,
  aggregates: [],
  ...more
})
export const plan = {
  restarts: 3,
  windowSeconds: 1800,
  waitsSeconds: [0, 60, 300],
  provenSeconds: 60,
  restartSeconds: 120,
  move: false
}
export const tried = (what: Attempt['action'], atMs: number, more: Partial<Attempt> = {}): Attempt => ({
  action: what,
  at: iso(atMs),
  ...more
})

/** What comes of it, in one line. */
function line({ incident, call, decision, news }: Judged, { nowMs }: View): string {
  const last = incident.attempts?.at(-1)
  return [
    incident.state,
    incident.rule,
    call && `calls ${call.do}`,
    decision && `${decision.state}/${decision.action}`,
    news && `${news.type} ${news.reason}`,
    incident.nextCheckAt && `in ${Date.parse(incident.nextCheckAt) - nowMs} ms`,
    last?.outcome && `last ${last.outcome}`
  ]
    .filter(Boolean)
    .join(', ')
}

export type Row = [name: string, incident: Partial<Incident>, view: Partial<View>, wanted: string]
export const nova = (server: Partial<Server>, ...actions: Parameters<typeof action>[]) => ({
  evidence: evidence(
    server,
    actions.map(given => action(...given))
  )
})
export const last = ', last did not run in time'
export const again = 'Restarting, Fault, calls restart, in 2000 ms'
export const paused: Partial<View> = { domain: domain('paused') }
export const move = { ...plan, restarts: 1, move: true }

export function judged(step: string, rows: readonly Row[]): void {
  for (const [name, incident, view, wanted] of rows)
    t.test(`HA-13 ${step}: ${name}`, async t => {
      const seen = viewOf(view)
      t.equal(line(judge({ ...noted, ...incident }, seen), seen), wanted)
    })
}
