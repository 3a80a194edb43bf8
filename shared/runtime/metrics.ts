import { Counter, Gauge, type Metric, type Registry } from 'prom-client'
import { PlainHistogram, type Observed } from './histogram.ts'

export type Outcome = 'done' | 'ignored' | 'refused' | 'failed' | 'malformed'

export interface EventMetrics {
  start: () => void
  end: (type: string, outcome: Outcome, seconds: number) => void
}

// Plain numbers, made into the series of prom-client when somebody asks: see histogram.ts.
interface Kind {
  outcomes: Map<Outcome, number>
  seconds: Observed
}
interface Counts {
  running: number
  kinds: Map<string, Kind>
}
interface Counted {
  functions: Map<string, Counts>
  seconds: PlainHistogram
}

const registries = new WeakMap<Registry, Counted>()

/** Several functions share one registry when they run in one process, and prom-client takes a name only once. */
function countedIn(registry: Registry): Counted {
  let counted = registries.get(registry)
  if (counted === undefined) {
    counted = register(registry)
    registries.set(registry, counted)
  }
  return counted
}

function register(registry: Registry): Counted {
  const functions = new Map<string, Counts>()
  const total = new Counter({
    name: 'drover_events_total',
    help: 'Events received, by what became of them',
    labelNames: ['function', 'type', 'outcome'],
    registers: [],
    collect() {
      this.reset()
      for (const [name, { kinds }] of functions)
        for (const [type, { outcomes }] of kinds)
          for (const [outcome, count] of outcomes) this.inc({ function: name, type, outcome }, count)
    }
  })
  const running = new Gauge({
    name: 'drover_events_running',
    help: 'Events in hand',
    labelNames: ['function'],
    registers: [],
    collect() {
      for (const [name, counts] of functions) this.set({ function: name }, counts.running)
    }
  })
  for (const metric of [total, running]) registry.registerMetric(metric)
  const seconds = new PlainHistogram({
    name: 'drover_event_seconds',
    help: 'Time from receipt to answer, waiting for the key included',
    bounds: [0.001, 0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, 30, 60],
    registry
  })
  return { functions, seconds }
}

function once<T extends Metric>(registry: Registry, name: string, make: () => T): T {
  return (registry.getSingleMetric(name) as T | undefined) ?? make()
}

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
  const { functions, seconds } = countedIn(registry)
  const counts = functions.get(name) ?? { running: 0, kinds: new Map<string, Kind>() }
  functions.set(name, counts)
  return {
    start: () => void counts.running++,
    end(type, outcome, duration) {
      counts.running--
      let kind = counts.kinds.get(type)
      if (kind === undefined) {
        kind = { outcomes: new Map(), seconds: seconds.series({ function: name, type }) }
        counts.kinds.set(type, kind)
      }
      kind.outcomes.set(outcome, (kind.outcomes.get(outcome) ?? 0) + 1)
      kind.seconds.observe(duration)
    }
  }
}
