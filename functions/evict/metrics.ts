import { Counter, Gauge, Histogram, type Metric, type Registry } from 'prom-client'
import type { Entry, Status } from './seen.ts'

const once = <T extends Metric>(registry: Registry, name: string, make: () => T): T =>
  (registry.getSingleMetric(name) as T | undefined) ?? make()

export type Measure = (host: string, before: Status | undefined, after: Status, now: Date) => void

/** HV-64. Hosts are a bounded set, and their series go when the drain is over. */
export function evictMetrics(registry: Registry): Measure {
  const gauge = (name: string, help: string, labelNames: string[]) =>
    once(registry, name, () => new Gauge({ name, help, labelNames, registers: [registry] }))
  const servers = gauge('drover_eviction_servers', 'Servers of open evictions, by state', ['host', 'state'])
  const left = gauge('drover_eviction_seconds_left', 'Expected time to the end of an eviction', ['host'])
  const name = 'drover_move_seconds'
  const seconds = once(
    registry,
    name,
    () =>
      new Histogram({
        name,
        help: 'From the order to the proven move of a server',
        labelNames: ['strategy'],
        buckets: [1, 2, 5, 10, 30, 60, 120, 300, 900, 1800],
        registers: [registry]
      })
  )
  const ended = once(
    registry,
    'drover_moves_total',
    () =>
      new Counter({
        name: 'drover_moves_total',
        help: 'Servers that reached a final state, by state',
        labelNames: ['state'],
        registers: [registry]
      })
  )

  return (host, before, after, now) => {
    const known = new Map((before?.instances ?? []).map(entry => [entry.id, entry.state]))
    for (const entry of after.instances ?? []) {
      if (known.get(entry.id) === entry.state || !final.has(entry.state)) continue
      ended.labels(entry.state).inc()
      if (entry.state === 'Done' && entry.startedAt && entry.finishedAt) {
        seconds
          .labels(entry.strategy ?? 'unknown')
          .observe(Math.max(0, Date.parse(entry.finishedAt) - Date.parse(entry.startedAt)) / 1000)
      }
    }
    const { progress: { done = 0, running = 0, waiting = 0, failed = 0, blocked = 0 } = {}, eta } = after
    for (const [state, count] of Object.entries({ done, running, waiting, failed, blocked })) {
      if (after.verdict === undefined) servers.labels(host, state).set(count)
      else servers.remove(host, state)
    }
    if (eta === undefined || after.verdict !== undefined) left.remove(host)
    else left.labels(host).set(Math.max(0, (Date.parse(eta) - now.getTime()) / 1000))
  }
}

const final = new Set<Entry['state']>(['Done', 'Gone', 'Blocked', 'Failed'])
