import type { Received } from '../events/kind.ts'
import type { Platform } from './function.ts'
import { traceId } from './log.ts'
import { eventMetrics, type Outcome } from './metrics.ts'

export interface Result {
  outcome: Outcome
  status: number
  /** For the sender: short, and nothing of the event's data. */
  text?: string
  error?: unknown
}

/** One log line and one count for each event, whatever became of it. Event data is in neither. */
export interface Recorder {
  start: () => void
  /** `known` is false for a type that the function does not react to. */
  end: (event: Received, known: boolean, key: string, result: Result, ms: number) => void
  /** A request that held no readable event. */
  unreadable: (status: number, reason: string) => void
}

export function recorder(name: string, { log, metrics: registry }: Pick<Platform, 'log' | 'metrics'>): Recorder {
  const metrics = eventMetrics(registry, name)
  return {
    start: metrics.start,
    end({ id, type, subject, traceparent }, known, key, { outcome, status, text, error }, ms) {
      metrics.end(known ? type : 'unknown', outcome, ms / 1000)
      const line: Record<string, unknown> = { id, type, subject, key, ms: Math.round(ms * 1000) / 1000, outcome, status }
      if (traceparent !== undefined) line.trace_id = traceId(traceparent)
      if (outcome === 'failed') log.error({ ...line, err: error }, 'event')
      else if (outcome === 'refused') log.warn({ ...line, reason: text }, 'event')
      else log.info(line, 'event')
    },
    unreadable(status, reason) {
      metrics.start()
      metrics.end('unknown', 'malformed', 0)
      log.warn({ outcome: 'malformed', status, reason }, 'event')
    }
  }
}
