import { Gauge, Histogram, type MetricValueWithName, type Registry } from 'prom-client'

export interface HistogramOptions {
  name: string
  help: string
  bounds: readonly number[]
  registry: Registry
}

type Labels = Readonly<Record<string, string>>

/** One series: what was observed under one set of labels. */
export interface Observed {
  observe: (value: number) => void
}

interface Series extends Observed {
  labels: Labels
  /** How many were at most the bound of the same place, and more than the one before; the last place has no bound. */
  counts: number[]
  sum: number
}

/**
 * A histogram that holds plain numbers. prom-client's builds and hashes the labels anew with every observation, which takes longer
 * than all else that is done for an event.
 */
export class PlainHistogram extends Gauge {
  readonly #options: HistogramOptions
  readonly #series: Series[] = []
  constructor(options: HistogramOptions) {
    super({ name: options.name, help: options.help, registers: [options.registry] })
    this.#options = options
  }

  /** To be kept by the one who observes: each call begins a series. */
  series(labels: Labels = {}): Observed {
    const { bounds } = this.#options
    const counts = Array.from({ length: bounds.length + 1 }, () => 0)
    const series: Series = {
      labels,
      counts,
      sum: 0,
      observe(value) {
        let place = 0
        while (value > (bounds[place] ?? Number.POSITIVE_INFINITY)) place++
        counts[place] = (counts[place] ?? 0) + 1
        series.sum += value
      }
    }
    this.#series.push(series)
    return series
  }

  override async get(): ReturnType<Gauge['get']> {
    const { name, help } = this.#options
    const described = await new Histogram({ name, help, registers: [] }).get()
    return { ...described, values: this.#series.flatMap(series => this.#told(series)) }
  }

  #told({ labels, counts, sum }: Series): MetricValueWithName<string>[] {
    const { name, bounds } = this.#options
    let count = 0
    const told: MetricValueWithName<string>[] = []
    for (const [i, more] of counts.entries()) {
      count += more
      told.push({ labels: { le: bounds[i] ?? '+Inf', ...labels }, value: count, metricName: `${name}_bucket` })
    }
    told.push({ labels, value: sum, metricName: `${name}_sum` })
    told.push({ labels, value: count, metricName: `${name}_count` })
    return told
  }
}
