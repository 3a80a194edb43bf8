// The seed's six metrics under its names (spec/machine.md §10).
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { ErrorType } from './errors.ts'
import type { Stores } from './stores.ts'

export type Controller = 'Machine' | 'NetworkConfiguration'

export interface Metrics {
  reconciled(controller: Controller, seconds: number): void
  failed(controller: Controller, type: ErrorType): void
  provisioned(storageClass: string, seconds: number): void
  networkFailed(network: string): void
}

const maxNetworks = 100 // the label is the user's, so that it has an end (MT2)

export function createMetrics(registry: Registry): Metrics {
  const registers = [registry]
  const duration = new Histogram({
    name: 'kubevirt_operator_reconciliation_duration_seconds',
    help: 'Reconciliation duration',
    labelNames: ['controller'],
    buckets: [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers
  })
  const errors = new Counter({
    name: 'kubevirt_operator_reconciliation_errors_total',
    help: 'Reconciliation errors',
    labelNames: ['controller', 'error_type'],
    registers
  })
  const provisioning = new Histogram({
    name: 'kubevirt_operator_storage_provisioning_duration_seconds',
    help: 'Storage provisioning time, from the claim to its volume',
    labelNames: ['storage_class'],
    buckets: [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800],
    registers
  })
  const networks = new Counter({
    name: 'kubevirt_operator_network_configuration_errors_total',
    help: 'Network configuration errors',
    labelNames: ['network_name'],
    registers
  })
  const known = new Set<string>()
  return {
    reconciled: (controller, seconds) => duration.observe({ controller }, seconds),
    failed: (controller, type) => errors.inc({ controller, error_type: type }),
    provisioned: (storageClass, seconds) => provisioning.observe({ storage_class: storageClass }, seconds),
    networkFailed(network) {
      const name = known.has(network) || known.size < maxNetworks ? network : 'other'
      if (name !== 'other') known.add(name)
      networks.inc({ network_name: name })
    }
  }
}

/** MT1: counted from what is stored, by the one that holds the lease; a set of labels that vanishes goes to zero. */
export function countStored(
  registry: Registry,
  { machines, vms }: Pick<Stores, 'machines' | 'vms'>,
  isLeader: () => boolean
): void {
  const gauge = <L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    count: () => Iterable<Record<L, string>>
  ) => {
    const seen = new Map<string, Record<L, string>>()
    return new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        for (const labels of seen.values()) this.set(labels, 0)
        if (!isLeader()) return
        for (const labels of count()) {
          seen.set(JSON.stringify(labels), labels)
          this.inc(labels)
        }
      }
    })
  }
  gauge('kubevirt_operator_machines_total', 'Total machines by phase', ['phase', 'template'], () =>
    machines.all().map(({ spec, status }) => ({ phase: status?.phase ?? 'Pending', template: spec.template ?? 'none' }))
  )
  gauge('kubevirt_operator_virtual_machines_total', 'Created VirtualMachine resources', ['status'], () =>
    vms.all().map(({ status }) => ({ status: status?.printableStatus ?? 'Unknown' }))
  )
}
