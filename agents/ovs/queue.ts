import type { Registry } from 'prom-client'
import type { Spool } from '../../shared/runtime/spool.ts'
import { poll } from './inbox.ts'
import type { Fact } from './observed.ts'

const everyMs = 5000

/** How the way to the sink is (OV-31): events that wait, and those left out since it last was empty. */
export function eventQueue(spool: Spool, metrics: Registry, signal: AbortSignal): AsyncGenerator<Fact> {
  let whenEmpty = 0
  return poll(
    () => everyMs,
    signal,
    async () => {
      const counted = await metrics.getSingleMetric('drover_spool_dropped_total')?.get()
      const total = counted?.values.reduce((sum, { value }) => sum + value, 0) ?? 0
      if (spool.size === 0) whenEmpty = total
      return { eventQueue: { size: spool.size, dropped: total - whenEmpty } }
    }
  )
}
