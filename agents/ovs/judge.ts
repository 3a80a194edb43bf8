// From facts to what is to be said: the one place that keeps what is known and what was told. Everything it calls is pure.
import { type Condition, conditionSet } from '../../shared/kube/conditions.ts'
import { conditionsOf, switchKnown } from './conditions.ts'
import type { Finding } from './finding.ts'
import { type Health, type Settings, findingsOf, healthOf } from './findings.ts'
import { type Timings, type Topic, topicRow } from './issue-types.ts'
import { type Ledger, type StoredIssue, restore, step } from './ledger.ts'
import { type Fact, type Observed, nothingYet } from './observed.ts'
import { type Told, toEvent } from './to-event.ts'
import { type Status, statusOf } from './to-status.ts'

export interface JudgeOptions {
  readonly node: string
  readonly timings: Timings
  readonly settings: Settings
  readonly heartbeatSeconds: number
  readonly agentVersion: string
}

export interface Judgement {
  readonly status: Status
  readonly events: readonly Told[]
  readonly fresh: readonly Finding[]
  /** When to look again although nothing new came. */
  readonly dueAt: number | undefined
}

type Stored = { readonly conditions?: readonly Partial<Condition>[]; readonly issues?: readonly StoredIssue[] }

export class Judge {
  readonly #options: JudgeOptions
  #observed: Observed = nothingYet
  #health: Health | undefined
  #ledger: Ledger = new Map()
  #conditions: readonly Condition[] = []
  #observedAt: string | undefined

  constructor(options: JudgeOptions) {
    this.#options = options
  }

  get observed(): Observed {
    return this.#observed
  }

  /** Of the last turn; undefined while the database is not known. */
  get health(): Health | undefined {
    return this.#health
  }

  get ledger(): Ledger {
    return this.#ledger
  }

  get conditions(): readonly Condition[] {
    return this.#conditions
  }

  get observedAt(): string | undefined {
    return this.#observedAt
  }

  /** What an earlier life of this agent has told (OV-29, OV-30). What this life told already counts more. */
  recall({ conditions = [], issues = [] }: Stored, now: number): void {
    this.#ledger = new Map([...restore(issues, now), ...this.#ledger])
    if (this.#conditions.length === 0) this.#conditions = conditions as readonly Condition[]
  }

  /** Somebody else wrote a condition of ours: it turns from that when we take it back (OV-53). */
  overruled(condition: Condition): void {
    this.#conditions = this.#conditions.map(known => (known.type === condition.type ? condition : known))
  }

  take(fact: Fact, now: Date): Judgement {
    const { node, timings, settings, heartbeatSeconds, agentVersion } = this.#options
    const observed = { ...this.#observed, ...fact }
    this.#observed = observed
    this.#health = healthOf(observed, settings)
    const findings = findingsOf(observed, this.#health)
    const next = step(this.#ledger, findings, topic => isHeld(topic, observed), timings, now.getTime())
    this.#ledger = next.ledger
    this.#conditions = conditionSet(this.#conditions, conditionsOf(observed, this.#health, this.#ledger), now)
    // OV-54: advanced by an answer of the database, or when its loss is what there is to say
    const answered = fact.tables !== undefined || fact.heartbeat?.answered === true
    if (answered || (fact.heartbeat && observed.ovsdb !== 'connected')) this.#observedAt = now.toISOString()
    const about = { conditions: this.#conditions, observedAt: this.#observedAt, heartbeatSeconds, agentVersion }
    return {
      status: statusOf(observed, this.#health, this.#ledger, about),
      events: next.outcomes.flatMap(outcome => toEvent(outcome, node, now) ?? []),
      fresh: next.fresh,
      dueAt: next.dueAt
    }
  }
}

/** OV-28: while a source is lost, what depends on it neither begins nor ends. */
export function isHeld(topic: Topic, observed: Observed): boolean {
  return topicRow(topic).from.some(source => {
    switch (source) {
      case 'switch':
        return !switchKnown(observed)
      case 'vswitchd':
        return observed.vswitchd === 'unasked' || observed.vswitchd === 'unknown'
      case 'ovn-state':
        return observed.tables === undefined || observed.ovn === 'unasked' || observed.ovn === 'unknown'
      default:
        return observed.ovn !== 'connected'
    }
  })
}
