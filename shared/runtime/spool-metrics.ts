import { Counter, Gauge, type Registry } from 'prom-client'

interface Figures {
  waiting: () => number
  bytes: () => number
  degraded: () => boolean
}

function gauge(registry: Registry, name: string, help: string, value: () => number): void {
  const made: Gauge = new Gauge({ name, help, registers: [registry], collect: (): void => made.set(value()) })
}

export function spoolMetrics(registry: Registry, { waiting, bytes, degraded }: Figures): { dropped: Counter<'reason'> } {
  gauge(registry, 'drover_spool_waiting', 'Events that the broker has not taken yet', waiting)
  gauge(registry, 'drover_spool_bytes', 'Size of the spool on disk', bytes)
  gauge(registry, 'drover_spool_degraded', '1 while the spool cannot be written and events are kept in memory', () =>
    Number(degraded())
  )
  return {
    dropped: new Counter({
      name: 'drover_spool_dropped_total',
      help: 'Events left out: superseded by a later one, for want of room (full), refused by the broker for good, unreadable',
      labelNames: ['reason'],
      registers: [registry]
    })
  }
}
