// Where a host stands in its life, as one word (spec/hypervisor.md §1.3, §3). Pure: a function of what the conditions say.
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'
import type { Ready } from './ready.ts'

export type Phase = NonNullable<NonNullable<Hypervisor['status']>['phase']>

const onboardingPhase: Record<string, Phase> = { Initial: 'Preparing', Testing: 'Testing', Handover: 'HandingOver' }

export function phase({ spec, status }: Hypervisor, ready: Ready): Phase {
  const condition = (type: string) => status?.conditions?.find(known => known.type === type)
  const onboarding = condition('Onboarding')
  switch (ready.reason) {
    case 'Ready':
      return 'Active'
    case 'Offboarded':
      return 'Offboarded'
    case 'Onboarding':
      if (onboarding?.status === 'True') return onboardingPhase[onboarding.reason] ?? 'Registering'
      return spec.lifecycleEnabled ? 'Registering' : 'Discovered'
    case 'Terminating':
      if (condition('Offboarded')) return 'Offboarding'
      return condition('Evicting')?.status === 'True' ? 'Draining' : 'Terminating'
    case 'Evicting':
      return spec.maintenance === 'ha' ? 'Recovering' : 'Draining'
    case 'Evicted':
      return condition('Offboarded') ? 'Offboarding' : 'Drained'
    case 'Maintenance':
      return spec.maintenance === 'ha' ? 'Recovering' : 'Maintenance'
    default:
      return 'Failing'
  }
}
