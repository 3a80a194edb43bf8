// Whether cert-manager, and the namespace of its certificates, is there: told when that changes, counted each time.
import { Counter } from 'prom-client'
import type { Platform } from '../../shared/runtime/function.ts'

export interface Presence {
  isThere(): void
  isMissing(certificate: string, err: Error): void
}

const name = 'drover_certificate_waits_total'

export function watchPresence({ log, metrics }: Pick<Platform, 'log' | 'metrics'>): Presence {
  const help = 'Certificates that could not be kept, since cert-manager or its namespace is missing'
  // functions in one process share a registry, and prom-client takes a name only once
  const waits = (metrics.getSingleMetric(name) as Counter | undefined) ?? new Counter({ name, help, registers: [metrics] })
  let missing = false
  return {
    isThere() {
      if (missing) log.info({}, 'cert-manager and its namespace are there now')
      missing = false
    },
    isMissing(certificate, err) {
      waits.inc()
      if (!missing) log.warn({ err, certificate }, 'waiting for cert-manager and its namespace; said once, counted from now on')
      missing = true
    }
  }
}
