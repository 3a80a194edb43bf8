// What Nova said to what was asked for, written to the incidents that asked. Pure.
import type { Outcome } from './act.ts'
import { notSent } from './attempts.ts'
import { iso } from './incident.ts'
import type { Ha, Incident } from './seen.ts'

/** What failed is looked at again so soon. */
export const failedMs = 5000

export function withOutcomes(ha: Ha, outcomes: readonly Outcome[], nowMs: number): Ha {
  const failed = new Map(
    outcomes.flatMap(({ call, problem, refused, unsent }) =>
      'server' in call && problem && (refused || unsent)
        ? [[call.server, { call, words: `${refused ? 'refused' : notSent}: ${problem}`.slice(0, 512) }]]
        : []
    )
  )
  if (failed.size === 0) return ha
  const note = (incident: Incident): Incident => {
    const one = failed.get(incident.server)
    const last = incident.attempts?.at(-1)
    if (!one || !last || last.at !== iso(one.call.atMs) || last.outcome !== undefined) return incident
    const attempts = [...(incident.attempts ?? []).slice(0, -1), { ...last, outcome: one.words }]
    return { ...incident, attempts, nextCheckAt: iso(nowMs + failedMs) }
  }
  return { ...ha, incidents: (ha.incidents ?? []).map(note) }
}
