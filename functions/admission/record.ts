import { Counter, Histogram, type Registry } from 'prom-client'
import type { Verdict } from '../../shared/rules/rule.ts'
import type { Logger } from '../../shared/runtime/log.ts'
import type { Review } from './review.ts'

export type Record = (review: Review, verdict: Verdict, startedAt: number) => void

/** One count for each review; a line for each that was refused, with the rules and never the object. */
export function recorder(registry: Registry, log: Logger): Record {
  const total = new Counter({
    name: 'drover_admission_reviews_total',
    help: 'Reviews answered, by what was said',
    labelNames: ['resource', 'operation', 'verdict'],
    registers: [registry]
  })
  const refusals = new Counter({
    name: 'drover_admission_refusals_total',
    help: 'Refusals by rule',
    labelNames: ['rule'],
    registers: [registry]
  })
  const seconds = new Histogram({
    name: 'drover_admission_seconds',
    help: 'Time from the whole question to the answer',
    buckets: [0.0001, 0.0005, 0.001, 0.005, 0.02, 0.1, 0.2, 0.5, 1],
    registers: [registry]
  })
  const children = new Map<string, Counter.Internal>()

  return (review, { violations, warnings }, startedAt) => {
    const { resource, operation, namespace, name, user } = review
    const verdict = violations.length > 0 ? 'refused' : warnings.length > 0 ? 'warned' : 'allowed'
    const id = `${resource} ${operation} ${verdict}`
    let child = children.get(id)
    if (child === undefined) {
      child = total.labels(resource, operation, verdict)
      children.set(id, child)
    }
    child.inc()
    seconds.observe((performance.now() - startedAt) / 1000)
    if (verdict !== 'refused') return
    const rules = [...new Set(violations.map(({ id }) => id))]
    for (const rule of rules) refusals.inc({ rule })
    log.info({ resource, operation, namespace, name, user: user.username, rules }, 'refused')
  }
}
