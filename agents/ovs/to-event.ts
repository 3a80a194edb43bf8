// A transition as a CloudEvent (spec/ovs.md §4). Pure.
import { linkFlapped } from '../../shared/events/ovs.ts'
import type { EventKind } from '../../shared/events/kind.ts'
import { topicOf, topicRow } from './issue-types.ts'
import type { Outcome } from './ledger.ts'

export interface Told {
  kind: EventKind
  id: string
  subject: string
  partitionkey: string
  time: string
  /** A later event about the same object makes this one old news. */
  supersedes: string
  data: {
    node: string
    object: string
    before: string
    after: string
    reason: string
    detectedAt: string
    evidence: Record<string, string>
  }
}

/** Undefined for what has no event of its own: the status tells it. */
export function toEvent({ kind, finding, detectedAt }: Outcome, node: string, now: Date): Told | undefined {
  const { events } = topicRow(topicOf(finding.type))
  const told = kind === 'flapped' ? linkFlapped : events?.[kind === 'raised' ? 'raise' : 'clear']
  if (!told) return undefined
  const { object, evidence, reason } = finding
  const [before, after] = kind === 'cleared' ? [finding.after, finding.before] : [finding.before, finding.after]
  return {
    kind: told,
    id: `${node}/${object}/${told.type}/${detectedAt}`, // so that a redelivery is recognised (OV-30)
    subject: object,
    partitionkey: node,
    time: now.toISOString(),
    supersedes: `${topicOf(finding.type)}/${object}`,
    data: { node, object, before, after, reason, detectedAt, evidence: { ...evidence } }
  }
}
