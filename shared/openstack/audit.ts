// HV-67: what a function did to the outside world, who, why, before and after: a line of status.history, an Event of the object, a line of the log.
import { timestamp } from '../kube/conditions.ts'
import type { Kube } from '../kube/connect.ts'
import type { Platform } from '../runtime/function.ts'
import type { Hypervisor } from '../schema/hypervisor.ts'

export interface Action {
  /** What was changed, as `aggregate general`. */
  kind: string
  from?: string | undefined
  to: string
  reason: string
}

export type Line = NonNullable<NonNullable<Hypervisor['status']>['history']>[number]

const kept = 20 // of all writers together
const longest = 256

/** The actor's own lines as it is to apply them. Others' are theirs; the same again is not news. Pure. */
export function historyAfter(before: readonly Line[] | undefined, actor: string, actions: readonly Action[], now: Date): Line[] {
  const all = before ?? []
  const own = all.filter(line => line.actor === actor)
  const last = own.at(-1)
  const time = timestamp(now)
  const added = actions.filter(action => !last || !isSame(last, action)).map(action => lineOf(action, actor, time))
  if (added.length === 0) return own
  const ids = new Set(added.map(({ id }) => id))
  const newest = [...all.filter(({ id }) => !ids.has(id)), ...added].toSorted(byTime).slice(-kept)
  return newest.filter(line => line.actor === actor)
}

const byTime = (a: Line, b: Line): number => (a.time ?? '').localeCompare(b.time ?? '')

const isSame = (line: Line, { kind, from, to, reason }: Action): boolean =>
  line.kind === kind && line.from === from && line.to === to && line.reason === reason.slice(0, longest)

const lineOf = ({ kind, from, to, reason }: Action, actor: string, time: string): Line => ({
  id: `${kind} ${to} ${time}`.slice(0, longest),
  time,
  kind,
  ...(from !== undefined && { from }),
  to,
  reason: reason.slice(0, longest),
  actor
})

/** After it was done. The log holds the trace by which the calls to OpenStack are found; the Event counts what is repeated. */
export async function tellActions(
  hypervisor: Hypervisor,
  actor: string,
  actions: readonly Action[],
  { kube, log }: { kube: Kube } & Pick<Platform, 'log'>
): Promise<void> {
  for (const { kind, from, to, reason } of actions) {
    log.info({ host: hypervisor.metadata.name, actor, action: kind, before: from, after: to, reason }, 'acted')
    const note = `${kind}: ${from === undefined ? '' : `${from} → `}${to} (${reason})`
    await kube.event(
      { ...hypervisor, apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor' },
      { type: 'Normal', reason: 'Acted', action: 'Act', note }
    )
  }
}
