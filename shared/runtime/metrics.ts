import { Counter, Gauge, Histogram, type Metric, type Registry } from 'prom-client'

export type Outcome = 'done' | 'ignored' | 'refused' | 'failed' | 'malformed'

export interface EventMetrics {
  start: () => void
  end: (type: string, outcome: Outcome, seconds: number) => void
}

// Several functions share one registry when they run in one process, and prom-client takes a name only once.
function once<T extends Metric>(registry: Registry, name: string, make: () => T): T {
  return (registry.getSingleMetric(name) as T | undefined) ?? make()
}

const eventsTotal = (registry: Registry): Counter<'function' | 'type' | 'outcome'> =>
  once(
    registry,
    'drover_events_total',
    () =>
      new Counter({
        name: 'drover_events_total',
        help: 'Events received, by what became of them',
        labelNames: ['function', 'type', 'outcome'],
        registers: [registry]
      })
  )

const eventSeconds = (registry: Registry): Histogram<'function' | 'type'> =>
  once(
    registry,
    'drover_event_seconds',
    () =>
      new Histogram({
        name: 'drover_event_seconds',
        help: 'Time from receipt to answer, waiting for the key included',
        labelNames: ['function', 'type'],
        buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, 30, 60],
        registers: [registry]
      })
  )

const eventsRunning = (registry: Registry): Gauge<'function'> =>
  once(
    registry,
    'drover_events_running',
    () => new Gauge({ name: 'drover_events_running', help: 'Events in hand', labelNames: ['function'], registers: [registry] })
  )

export const emittedTotal = (registry: Registry): Counter<'type' | 'outcome'> =>
  once(
    registry,
    'drover_emitted_total',
    () =>
      new Counter({
        name: 'drover_emitted_total',
        help: 'Events sent to the broker: sent, failed, and each try that was repeated',
        labelNames: ['type', 'outcome'],
        registers: [registry]
      })
  )

/** `type` must come from a closed set: a sender must not be able to make new series. */
export function eventMetrics(registry: Registry, name: string): EventMetrics {
  const total = eventsTotal(registry)
  const seconds = eventSeconds(registry)
  const running = eventsRunning(registry).labels(name)
  const children = new Map<string, { count: Counter.Internal; time: Histogram.Internal<'function' | 'type'> }>()

  return {
    start: () => running.inc(),
    end(type, outcome, duration) {
      running.dec()
      const id = `${outcome} ${type}`
      let child = children.get(id)
      if (child === undefined) {
        child = { count: total.labels(name, type, outcome), time: seconds.labels(name, type) }
        children.set(id, child)
      }
      child.count.inc()
      child.time.observe(duration)
    }
  }
}
