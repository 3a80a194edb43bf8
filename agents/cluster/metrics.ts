import { Counter, Gauge, type Registry } from 'prom-client'

export interface ClusterMetrics {
  told: Counter<'type'>
  /** The outbox of the current turn; a replica that loses the lease and gets it again has a new one. */
  countWaiting(count: () => number): void
}

export function clusterMetrics(registry: Registry): ClusterMetrics {
  let count = () => 0
  const waiting: Gauge = new Gauge({
    name: 'drover_cluster_changes_waiting',
    help: 'Objects whose newest state the broker has not yet taken',
    registers: [registry],
    collect: (): void => waiting.set(count())
  })
  const told = new Counter({
    name: 'drover_cluster_changes_told_total',
    help: 'Changes of objects that the broker took',
    labelNames: ['type'],
    registers: [registry]
  })
  return {
    told,
    countWaiting(current) {
      count = current
    }
  }
}
