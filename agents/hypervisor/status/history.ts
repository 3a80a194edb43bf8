// The agent's own lines of Hypervisor.status.history: the host was booted, it runs another version. Pure.
import { timestamp } from '../../../shared/kube/conditions.ts'
import { agentManager } from '../../../shared/schema/hypervisor-agent-fields.ts'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import type { Known } from '../known.ts'

type Line = NonNullable<NonNullable<Hypervisor['status']>['history']>[number]
const kept = 5 // of the twenty lines that all writers have together

/** What the object said before this write is what the host was before; so each change makes one line, however often it is looked at. */
export function ownHistory({ bootId, os }: Known, { status }: Hypervisor, now: Date): { history?: Line[] } {
  const own = (status?.history ?? []).filter(({ actor }) => actor === agentManager)
  const time = timestamp(now)
  const line = (kind: string, reason: string, from: string | undefined, to: string | undefined): Line[] =>
    from === undefined || to === undefined || from === to
      ? []
      : [{ id: `${kind}-${time}`, time, kind, from, to, reason, actor: agentManager }]
  const history = [
    ...own,
    ...line('boot', 'Booted', status?.agent?.bootId, bootId),
    ...line('version', 'Updated', status?.operatingSystem?.version, os?.version)
  ].slice(-kept)
  return history.length > 0 ? { history } : {}
}
