// One thing that is wrong with a host, before it is known what it asks for now. Pure.
import { ms } from '../incident.ts'
import type { Seen, Signal } from '../seen.ts'

export interface Found {
  kind: string
  object?: string
  sinceMs: number
  /** from when on scheduling is disabled for it; left out: never */
  disableAtMs?: number
  drain?: boolean
  message: string
  count?: number
  times?: string[]
  lastSeen?: string
}

export const keyOf = ({ kind, object = '' }: Pick<Signal, 'kind' | 'object'>): string => `${kind}/${object}`

/** As the object says; where it does not say, since it was first seen here. */
export function sinceOf(
  { hypervisor }: Seen,
  of: Pick<Signal, 'kind' | 'object'>,
  at: string | undefined,
  nowMs: number
): number {
  const known = hypervisor.status?.ha?.signals?.find(signal => keyOf(signal) === keyOf(of))
  return ms(at) || ms(known?.since) || nowMs
}
