// What a Node is told about its host's way out (spec/hypervisor.md §3.5, §3.6). Pure.
import { findCondition, isFalse, isTrue } from '../../shared/kube/conditions.ts'
import type { Node } from '../../shared/kube/kinds.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'
import type { Signal } from './render.ts'

export const manager = 'drover-node-release'

export const taint = { key: 'kvm.cloud.sap/offboarding', effect: 'NoExecute' }

export interface Seen {
  node: Node
  hypervisor: Hypervisor
}

export interface Step {
  signal: Signal
  taint: 'add' | 'remove' | 'leave'
  /** HV-59: high availability is still on after all this time. */
  haOverdue: boolean
}

export const isManaged = ({ node, hypervisor }: Seen): boolean =>
  'nova.openstack.cloud.sap/virt-driver' in (node.metadata?.labels ?? {}) && hypervisor.spec.lifecycleEnabled

export function decide({ node, hypervisor }: Seen, now: Date, haWaitMs: number): Step {
  const onboarding = findCondition(hypervisor, 'Onboarding')
  const offboarded = findCondition(hypervisor, 'Offboarded')
  const isOut = offboarded?.status === 'True'
  const haIsOn = isTrue(hypervisor, 'HaEnabled')
  const haOverdue = isOut && haIsOn && now.getTime() - Date.parse(offboarded.lastTransitionTime) >= haWaitMs
  return {
    signal: { released: isOut && (!haIsOn || haOverdue), onboarded: onboarding?.status === 'False' },
    taint: taintStep(node, hypervisor),
    haOverdue
  }
}

/** HV-50: the agents are asked to go when the host is empty, or never was in Nova; not before, since they carry the moves. */
function taintStep(node: Node, hypervisor: Hypervisor): Step['taint'] {
  const has = node.spec?.taints?.some(({ key, effect }) => key === taint.key && effect === taint.effect)
  const isTerminating = hypervisor.spec.maintenance === 'termination'
  const isEmpty = isFalse(hypervisor, 'Evicting') && findCondition(hypervisor, 'Evicting')?.reason === 'Succeeded'
  const mustGo = isTerminating && !isTrue(hypervisor, 'Onboarding') && (isEmpty || !hypervisor.status?.serviceId)
  if (mustGo) return has ? 'leave' : 'add'
  return has && !isTerminating ? 'remove' : 'leave'
}

/** Waits for high availability to end; or a taint could not be written, since the kubelet wrote the node in the same moment. */
export const isOpen = ({ node, hypervisor }: Seen): boolean =>
  (isTrue(hypervisor, 'Offboarded') && isTrue(hypervisor, 'HaEnabled')) || taintStep(node, hypervisor) !== 'leave'
