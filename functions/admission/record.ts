import { Counter, type Registry } from 'prom-client'
import type { Verdict } from '../../shared/rules/rule.ts'
import { PlainHistogram } from '../../shared/runtime/histogram.ts'
import type { Logger } from '../../shared/runtime/log.ts'
import { judged } from './judge.ts'
import type { Review } from './review.ts'

export type Record = (review: Review, verdict: Verdict, startedAt: number) => void

interface Labels {
  resource: string
  operation: string
  verdict: string
}

/** One count for each review; a line for each that was refused, with the rules and never the object. */
export function recorder(registry: Registry, log: Logger): Record {
  const counts = new Map<string, { labels: Labels; count: number }>()
  const total = new Counter({
    name: 'drover_admission_reviews_total',
    help: 'Reviews answered, by what was said',
    labelNames: ['resource', 'operation', 'verdict'],
    registers: [],
    collect() {
      this.reset()
      for (const { labels, count } of counts.values()) this.inc(labels, count)
    }
  })
  registry.registerMetric(total)
  const refusals = new Counter({
    name: 'drover_admission_refusals_total',
    help: 'Refusals by rule',
    labelNames: ['rule'],
    registers: [registry]
  })
  const seconds = new PlainHistogram({
    name: 'drover_admission_seconds',
    help: 'Time from the whole question to the answer',
    bounds: [0.0001, 0.0005, 0.001, 0.005, 0.02, 0.1, 0.2, 0.5, 1],
    registry
  }).series()

  return (review, { violations, warnings }, startedAt) => {
    const { operation, namespace, name, user } = review
    const resource = judged.has(review.resource) ? review.resource : 'other' // a sender must not be able to make new series
    const verdict = violations.length > 0 ? 'refused' : warnings.length > 0 ? 'warned' : 'allowed'
    const id = `${resource} ${operation} ${verdict}`
    const counted = counts.get(id)
    if (counted) counted.count++
    else counts.set(id, { labels: { resource, operation, verdict }, count: 1 })
    seconds.observe((performance.now() - startedAt) / 1000)
    if (verdict !== 'refused') return
    const rules = [...new Set(violations.map(({ id }) => id))]
    for (const rule of rules) refusals.inc({ rule })
    log.info({ resource, operation, namespace, name, user: user.username, rules }, 'refused')
  }
}
