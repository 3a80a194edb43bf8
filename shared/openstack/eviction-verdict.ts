// How an Eviction ended, also where the CRD in use has no field for it (HV-4): its condition says it in fewer words. Pure.
import type { Eviction } from '../schema/eviction.ts'

export type Verdict = NonNullable<NonNullable<Eviction['status']>['verdict']>

/** A failed one may have any of several verdicts; Incomplete is the one that is still watched. */
const byReason: Readonly<Record<string, Verdict>> = { Succeeded: 'Succeeded', Failed: 'Incomplete', Cancelled: 'Cancelled' }

export function verdictOf({ status }: Pick<Eviction, 'status'>): Verdict | undefined {
  const ended = status?.conditions?.find(({ type, status }) => type === 'Evicting' && status === 'False')
  return status?.verdict ?? byReason[ended?.reason ?? '']
}
