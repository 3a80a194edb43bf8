import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'

export const now = new Date('2026-11-16T12:00:00Z')

export const condition = (
  type: string,
  status: 'True' | 'False' | 'Unknown',
  reason = 'Succeeded',
  rest: { message?: string; observedGeneration?: number; lastTransitionTime?: string } = {}
) => ({ type, status, reason, message: '', lastTransitionTime: '2026-11-16T11:00:00Z', ...rest })

export type Status = NonNullable<Hypervisor['status']>

/** A host that Nova knows, as the API server would hand it out. */
export function hypervisor(
  spec: Partial<Hypervisor['spec']> = {},
  status: Partial<Status> = {},
  zone: string | null = 'z1'
): Hypervisor {
  return {
    metadata: {
      name: 'host-1',
      uid: '12345678-aaaa',
      generation: 3,
      ...(zone !== null && { labels: { 'topology.kubernetes.io/zone': zone } })
    },
    spec: {
      reboot: false,
      evacuateOnReboot: true,
      lifecycleEnabled: true,
      skipTests: false,
      highAvailability: true,
      createCertManagerCertificate: false,
      installCertificate: true,
      customTraits: [],
      aggregates: [],
      allowedProjects: [],
      ...spec
    },
    status: {
      numInstances: 0,
      hypervisorId: 'hv-id',
      serviceId: 'service-id',
      nova: { host: 'host-1', hypervisorHostname: 'host-1' },
      ...status
    }
  }
}
