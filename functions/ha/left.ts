// A server that was reported or given up, and that has left the host since: moved by somebody, or deleted. It is no trouble of this host any more. Pure.
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { iso } from './incident.ts'
import type { Evidence, Incident } from './seen.ts'

/** Its domain is gone. That alone proves nothing, since a restart that failed leaves none either: Nova is asked. */
export function mayHaveLeft({ state, server }: Incident, { status }: Hypervisor): boolean {
  const { instances } = status ?? {}
  return (state === 'Reported' || state === 'Blocked') && instances !== undefined && !instances.some(({ id }) => id === server)
}

export function closedIfLeft(incident: Incident, found: Evidence | undefined, host: string | undefined, nowMs: number): Incident {
  if (!found || found.server?.host === host) return incident
  const where = found.server ? `Nova has it on ${found.server.host ?? 'no host'} now.` : 'Nova does not know it any more.'
  return { ...incident, state: 'Closed', since: iso(nowMs), rule: 'HasLeft', reason: `${incident.reason ?? ''} ${where}`.trim() }
}
