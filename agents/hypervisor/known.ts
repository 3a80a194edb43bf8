// What the agent knows of its host: filled by its parts, read by the status.
import type { Condition } from '../../shared/kube/conditions.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'
import type { Domains } from './domains.ts'
import type { OperatingSystem } from './host/os.ts'
import type { Unit } from './host/systemd.ts'
import type { Link } from './libvirt/fact.ts'

export type Verdict = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>
export type UpdateStatus = NonNullable<NonNullable<Hypervisor['status']>['updateStatus']>

export interface Known {
  host: string
  version: string
  libvirtUri: string
  bootId: string
  uptimeSeconds: number
  sequence: number
  lastHeartbeat: string
  link?: Link
  connection?: Verdict
  /** Undefined until the first complete listing. */
  domains?: Domains
  os?: OperatingSystem
  units: readonly Unit[]
  update?: { status: UpdateStatus; condition?: Verdict }
  certificate?: Verdict
  shutdownBudgetSeconds?: number
  /** What does not work, by the part that says so. */
  problems: Map<string, string>
  countInactive: boolean
}

export const activeDomains = ({ domains }: Known): number => [...(domains?.values() ?? [])].filter(({ active }) => active).length
