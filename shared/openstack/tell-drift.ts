// AG-7: each difference that somebody made is told once as an Event of the object, counted and logged.
import type { Hypervisor } from '../schema/hypervisor.ts'
import type { Finding } from './drift.ts'
import type { HostDeps } from './host-function.ts'

export async function tellDrift(
  hypervisor: Hypervisor,
  findings: readonly Finding[],
  { kube, log, countDrift }: Pick<HostDeps, 'kube' | 'log' | 'countDrift'>
): Promise<void> {
  const { name } = hypervisor.metadata
  for (const { kind, name: what, expected, actual, action } of findings) {
    const known = hypervisor.status?.drift?.some(
      entry => entry.kind === kind && entry.name === what && entry.action === 'reported'
    )
    if (action === 'reported' && known) continue
    countDrift(kind, action)
    log.warn({ host: name, drift: kind, name: what, expected, actual, action }, 'changed by somebody else')
    await kube.event(
      { ...hypervisor, apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor' },
      {
        type: 'Warning',
        reason: 'Drift',
        action: action === 'repaired' ? 'Repair' : 'Report',
        note: `${kind} ${what}: expected ${expected}, was ${actual}; ${action}`
      }
    )
  }
}
