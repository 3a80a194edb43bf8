import { Gauge, Histogram, type Registry } from 'prom-client'
import type { CallInfo } from './transport.ts'

const name = 'drover_kube_call_seconds'
const extendedName = 'drover_crd_extended'

/** Calls to the API server by verb, kind and outcome: all of them closed sets. Functions in one process share a registry. */
export function kubeMetrics(registry: Registry): (call: CallInfo) => void {
  const seconds =
    (registry.getSingleMetric(name) as Histogram<'verb' | 'kind' | 'code'> | undefined) ??
    new Histogram({
      name,
      help: 'Time of one request to the Kubernetes API',
      labelNames: ['verb', 'kind', 'code'],
      buckets: [0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10],
      registers: [registry]
    })
  return ({ verb, kind, code, ms }) => seconds.labels(verb, kind, code).observe(ms / 1000)
}

/** HV-4: whether the installed CRD has the fields that Drover adds. */
export function extendedMetric(registry: Registry, extended: boolean): void {
  const gauge =
    (registry.getSingleMetric(extendedName) as Gauge | undefined) ??
    new Gauge({
      name: extendedName,
      help: 'Whether the installed CRD of Hypervisor has the fields that Drover adds (1) or only the compatible ones (0)',
      registers: [registry]
    })
  gauge.set(extended ? 1 : 0)
}
