// The whole fleet in few words: who else has the same fault at the moment. Pure.
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'
import type { Incident } from './seen.ts'

export interface Fault {
  server: string
  kind: string
  atMs: number
  storage: string | undefined
}

export interface FleetHost {
  name: string
  domains: number
  faults: readonly Fault[]
  signals: readonly string[]
}

export type Fleet = readonly FleetHost[]

/** Rules of the fault check by which a report says nothing against its host: a live move that failed leaves one where it should have gone. */
const disproving = new Set(['NotOnThisHost', 'NotConfirmed', 'Managed', 'ControlNotConfirmed', 'TaskExplains', 'RequestExplains'])

export const faultsOf = (incidents: readonly Incident[] | undefined): Fault[] =>
  (incidents ?? [])
    .filter(({ rule = '' }) => !disproving.has(rule))
    .map(({ server, kind, eventAt = '', storage }) => ({ server, kind, atMs: Date.parse(eventAt), storage }))

/** From its outline. */
export function fleetHost({ metadata, status }: Hypervisor): FleetHost {
  const { ha, numInstances = 0 } = status ?? {}
  return {
    name: metadata.name,
    domains: numInstances,
    faults: faultsOf(ha?.incidents),
    signals: (ha?.signals ?? []).map(({ kind }) => kind)
  }
}
