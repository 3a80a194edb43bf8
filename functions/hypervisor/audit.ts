// Whether a person's kubectl wrote into the spec (the condition Tainted, spec §1.4). Pure.
import type { Verdict } from '../../shared/kube/conditions.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'

/** By the field managers that the server keeps: kubectl-edit, kubectl-patch, kubectl-client-side-apply, kubectl, … */
export function tainted({ metadata }: Hypervisor): Verdict {
  const byHand = metadata.managedFields?.some(
    ({ manager, subresource, fieldsV1 }) =>
      manager?.startsWith('kubectl') && !subresource && fieldsV1 !== undefined && 'f:spec' in fieldsV1
  )
  return byHand
    ? { type: 'Tainted', status: 'True', reason: 'Kubectl', message: '⚠️' }
    : { type: 'Tainted', status: 'False', reason: 'NoKubectl', message: '🟢' }
}
