import { Counter, Gauge, Histogram, type Metric, type MetricValueWithName, type Registry } from 'prom-client'

export type Outcome = 'done' | 'ignored' | 'refused' | 'failed' | 'malformed'

export interface EventMetrics {
  start: () => void
  end: (type: string, outcome: Outcome, seconds: number) => void
}

// prom-client builds and hashes the labels of every call, four times an event: more than all else that we do for one. So events
// are counted in plain numbers, and made into its series when somebody asks.
interface Kind {
  outcomes: Map<Outcome, number>
  /** How many took at most so long as the bound of the same place; the last has no bound. */
  buckets: number[]
  sum: number
}
interface Counts {
  running: number
  kinds: Map<string, Kind>
}
type ByFunction = Map<string, Counts>

const bounds = [0.001, 0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, 30, 60]
const registries = new WeakMap<Registry, ByFunction>()

/** Several functions share one registry when they run in one process, and prom-client takes a name only once. */
function countsIn(registry: Registry): ByFunction {
  let all = registries.get(registry)
  if (all === undefined) {
    all = new Map()
    registries.set(registry, all)
    register(registry, all)
  }
  return all
}

function register(registry: Registry, all: ByFunction): void {
  const total = new Counter({
    name: 'drover_events_total',
    help: 'Events received, by what became of them',
    labelNames: ['function', 'type', 'outcome'],
    registers: [],
    collect() {
      this.reset()
      for (const [name, type, { outcomes }] of kindsOf(all))
        for (const [outcome, count] of outcomes) this.inc({ function: name, type, outcome }, count)
    }
  })
  const running = new Gauge({
    name: 'drover_events_running',
    help: 'Events in hand',
    labelNames: ['function'],
    registers: [],
    collect() {
      for (const [name, { running }] of all) this.set({ function: name }, running)
    }
  })
  for (const metric of [total, running, new EventSeconds(all)]) registry.registerMetric(metric)
}

function* kindsOf(all: ByFunction): Generator<[name: string, type: string, kind: Kind]> {
  for (const [name, { kinds }] of all) for (const [type, kind] of kinds) yield [name, type, kind]
}

type Labels = 'function' | 'type' | 'le'
const seconds = {
  name: 'drover_event_seconds',
  help: 'Time from receipt to answer, waiting for the key included',
  registers: []
}

/** A histogram told from our own numbers: prom-client's can only be filled one observation at a time. */
class EventSeconds extends Gauge<Labels> {
  readonly #all: ByFunction
  constructor(all: ByFunction) {
    super(seconds)
    this.#all = all
  }

  override async get(): ReturnType<Gauge<Labels>['get']> {
    const described = await new Histogram<Labels>(seconds).get()
    return { ...described, values: [...kindsOf(this.#all)].flatMap(seriesOf) }
  }
}

function seriesOf([name, type, { buckets, sum }]: [string, string, Kind]): MetricValueWithName<Labels>[] {
  const labels = { function: name, type }
  const series: MetricValueWithName<Labels>[] = []
  let count = 0
  for (const [i, more] of buckets.entries()) {
    count += more
    series.push({ labels: { le: bounds[i] ?? '+Inf', ...labels }, value: count, metricName: 'drover_event_seconds_bucket' })
  }
  series.push({ labels, value: sum, metricName: 'drover_event_seconds_sum' })
  series.push({ labels, value: count, metricName: 'drover_event_seconds_count' })
  return series
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
  const all = countsIn(registry)
  const counts = all.get(name) ?? { running: 0, kinds: new Map<string, Kind>() }
  all.set(name, counts)
  return {
    start: () => void counts.running++,
    end(type, outcome, seconds) {
      counts.running--
      let kind = counts.kinds.get(type)
      if (kind === undefined) {
        kind = { outcomes: new Map(), buckets: Array.from({ length: bounds.length + 1 }, () => 0), sum: 0 }
        counts.kinds.set(type, kind)
      }
      kind.outcomes.set(outcome, (kind.outcomes.get(outcome) ?? 0) + 1)
      kind.sum += seconds
      let place = 0
      while (seconds > (bounds[place] ?? Number.POSITIVE_INFINITY)) place++
      kind.buckets[place] = (kind.buckets[place] ?? 0) + 1
    }
  }
}
