// Whether a host is ready for work: the first rung that holds decides (spec/hypervisor.md §3.3). Pure.
import type { HypervisorCondition } from '../../shared/schema/hypervisor-conditions.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'

export interface View {
  hypervisor: Hypervisor
  terminating: boolean
  /** Undefined when the node does not say. */
  nodeReady?: { ready: boolean; reason: string }
  now: Date
  healthGates: boolean
  heartbeatStaleMs: number
  /** What the OVSNode says; undefined where nobody reports. */
  network?: { reason: string; message: string } | undefined
}

export type Ready = Extract<HypervisorCondition, { type: 'Ready' }> & { message: string }

const no = (reason: Extract<Ready, { status: 'False' }>['reason'], message: string): Ready => ({
  type: 'Ready',
  status: 'False',
  reason,
  message
})

export function ready(view: View): Ready {
  const { hypervisor, terminating } = view
  const { spec, status } = hypervisor
  const condition = (type: string) => status?.conditions?.find(known => known.type === type)
  const onboarding = condition('Onboarding')

  if (condition('Offboarded')?.status === 'True')
    return no('Offboarded', 'The host was taken out of OpenStack and may be released.')
  if (terminating) return no('Terminating', 'The node is being taken away.')
  if (onboarding?.status === 'True') return no('Onboarding', onboardingStep(hypervisor, onboarding))
  if (spec.maintenance) return inMaintenance(spec.maintenance, condition('Evicting'))
  if (onboarding?.reason !== 'Succeeded') return no('Onboarding', notOnboarded(hypervisor, onboarding))
  return (
    (view.healthGates && unhealthy(view)) || {
      type: 'Ready',
      status: 'True',
      reason: 'Ready',
      message: degraded(view) ?? 'The host takes servers.'
    }
  )
}

function onboardingStep({ status }: Hypervisor, { reason, message }: { reason: string; message: string }): string {
  const { step, waitingFor } = status?.onboarding ?? {}
  return [step ?? (message || reason), waitingFor && `waiting for ${waitingFor}`].filter(Boolean).join('; ')
}

function inMaintenance(mode: string, evicting: { status: string; message: string } | undefined): Ready {
  if (evicting?.status === 'True')
    return no('Evicting', `Maintenance (${mode}): ${evicting.message || 'servers are being moved away'}`)
  if (evicting?.status === 'False') return no('Evicted', `Maintenance (${mode}): the host is empty.`)
  return no('Maintenance', `Maintenance (${mode}).`)
}

function notOnboarded({ spec }: Hypervisor, onboarding: { reason: string; message: string } | undefined): string {
  if (onboarding?.reason === 'Aborted') return `Onboarding was aborted: ${onboarding.message}`
  if (!spec.lifecycleEnabled) return 'Drover does not manage this host: lifecycleEnabled is false.'
  return onboarding?.message || 'The host is not yet registered in OpenStack.'
}

/** OV-51: a degraded network is a warning. */
const degraded = ({ network, healthGates }: View): string | undefined =>
  healthGates && network && ['NetworkDegraded', 'AgentSilent'].includes(network.reason)
    ? `The host takes servers, but its network is not as it should be: ${network.message}`
    : undefined

/** HV-3: a fact that nobody reports holds nothing up. */
function unhealthy({ hypervisor: { status }, nodeReady, now, heartbeatStaleMs, network }: View): Ready | undefined {
  const last = status?.agent?.lastHeartbeat
  if (last !== undefined && now.getTime() - Date.parse(last) > heartbeatStaleMs) {
    return no('AgentLost', `The agent was last heard at ${last}.`)
  }
  const libvirt = status?.conditions?.find(({ type }) => type === 'LibVirtConnection')
  if (libvirt !== undefined && libvirt.status !== 'True')
    return no('LibVirtDown', `The agent cannot reach libvirt: ${libvirt.message}`)
  if (nodeReady?.ready === false) return no('NodeNotReady', `The node is not ready: ${nodeReady.reason.replace(/\.$/, '')}.`)
  const { state, status: service, disabledReason } = status?.nova ?? {}
  if (state === 'down') return no('NovaServiceDown', 'Nova does not hear from the compute service.')
  if (service === 'disabled')
    return no('NovaServiceDown', `The compute service is disabled: ${disabledReason ?? 'no reason given'}.`)
  if (network?.reason === 'NetworkDown') return no('NetworkDown', `The network of the host is down: ${network.message}`)
  return undefined
}
