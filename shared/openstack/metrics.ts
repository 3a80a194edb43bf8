import { Counter, Histogram, type Metric, type Registry } from 'prom-client'
import type { CallReport } from 'openstack-sdk-lite'

// Several functions share one registry when they run in one process, and prom-client takes a name only once.
const once = <T extends Metric>(registry: Registry, name: string, make: () => T): T =>
  (registry.getSingleMetric(name) as T | undefined) ?? make()

/** HV-64: OpenStack calls by code and latency. Names of calls and codes are closed sets. */
export function openStackMetrics(registry: Registry): (report: CallReport) => void {
  const total = once(
    registry,
    'drover_openstack_calls_total',
    () =>
      new Counter({
        name: 'drover_openstack_calls_total',
        help: 'Requests to OpenStack, by call and HTTP status or error code',
        labelNames: ['service', 'call', 'code'],
        registers: [registry]
      })
  )
  const seconds = once(
    registry,
    'drover_openstack_call_seconds',
    () =>
      new Histogram({
        name: 'drover_openstack_call_seconds',
        help: 'Time of one request to OpenStack',
        labelNames: ['service', 'call'],
        buckets: [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30],
        registers: [registry]
      })
  )
  return ({ service, call, status, error, durationMs }) => {
    total.labels(service, call, String(status ?? error?.code ?? 'unknown')).inc()
    seconds.labels(service, call).observe(durationMs / 1000)
  }
}

/** HV-64: what others changed behind Drover's back. */
export function driftMetric(registry: Registry, by: string): (kind: string, action: string) => void {
  const total = once(
    registry,
    'drover_drift_total',
    () =>
      new Counter({
        name: 'drover_drift_total',
        help: 'Differences that somebody else made, by what was done about them',
        labelNames: ['function', 'kind', 'action'],
        registers: [registry]
      })
  )
  return (kind, action) => total.labels(by, kind, action).inc()
}
