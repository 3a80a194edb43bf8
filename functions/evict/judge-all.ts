// Every server that one pass knows of: on the host, gone from it, or running there without Nova's knowledge. Pure.
import { judge, type Judged, type Scene } from './judge.ts'
import { byServer } from './records.ts'
import type { Entry, Options, Seen, Status } from './seen.ts'

const stray = 'DomainStillRunning'

/** The newest end among the entries that `is` picks. */
export const newestEnd = (status: Status | undefined, is: (entry: Entry) => boolean): number =>
  Math.max(0, ...(status?.instances ?? []).filter(is).map(({ finishedAt }) => Date.parse(finishedAt ?? '') || 0))

export function judgeAll(seen: Seen, scene: Scene, anew: boolean, options: Options): Judged[] {
  const { eviction, servers, left } = seen
  const records = byServer(seen.records)
  const entries = new Map((eviction.status?.instances ?? []).map(entry => [entry.id, anew ? fresh(entry) : entry]))
  const here = new Map(servers.map(server => [server.id, server]))
  const known = [...here.keys(), ...left.keys()].map(id =>
    judge(id, here.get(id) ?? left.get(id), entries.get(id), records.get(id) ?? [], seen, scene, options)
  )
  const seenIds = new Set(known.map(({ entry }) => entry.id))
  // ended before this pass, and nothing new is known of them
  const ended = [...entries.values()]
    .filter(({ id }) => !seenIds.has(id))
    .map(entry => ({ entry: withBytes(entry, seen), server: undefined, here: false }))
  const all = new Map([...known, ...ended].map(one => [one.entry.id, one]))
  for (const stray of strays(seen, here, entries, scene, options)) {
    const state = all.get(stray.entry.id)?.entry.state
    if (!state || state === 'Done' || state === 'Gone' || state === 'Failed') all.set(stray.entry.id, stray)
  }
  return [...all.values()].toSorted((a, b) => a.entry.id.localeCompare(b.entry.id))
}

/** EV-26: an agent's last word may come after Nova's. */
function withBytes(entry: Entry, { copied }: Seen): Entry {
  const bytes = entry.state === 'Done' ? copied.get(entry.id) : undefined
  return bytes === undefined ? entry : { ...entry, bytes }
}

/** A new try with the old record still accounted for. */
const fresh = ({ id, name, state, ramMb, migrationId, destination, finishedAt }: Entry): Entry => ({
  id,
  state: state === 'Done' || state === 'Gone' ? state : 'Waiting',
  attempts: 0,
  ...(name && { name }),
  ...(ramMb !== undefined && { ramMb }),
  ...(migrationId && { migrationId }),
  ...((state === 'Done' || state === 'Gone') && { ...(destination && { destination }), ...(finishedAt && { finishedAt }) })
})

const strayGraceMs = 120_000 // the agent reports in its own time

/** EV-23: an active domain that Nova does not place here. A drained host must not run it. */
function strays(
  { hypervisor }: Seen,
  here: ReadonlyMap<string, unknown>,
  entries: ReadonlyMap<string, Entry>,
  { nowMs }: Scene,
  { heartbeatStaleMs }: Options
): Judged[] {
  const { agent, instances = [] } = hypervisor?.status ?? {}
  if (!agent?.lastHeartbeat || nowMs - Date.parse(agent.lastHeartbeat) > heartbeatStaleMs) return []
  return instances
    .filter(({ id, active }) => active && !here.has(id))
    .map(({ id, name }) => {
      const before = entries.get(id)
      const sinceMs = before?.reason === stray && before.startedAt ? Date.parse(before.startedAt) : nowMs
      const state = nowMs - sinceMs > strayGraceMs ? 'Blocked' : 'Waiting'
      const message = 'libvirt runs it on this host, but Nova does not place it here.'
      return {
        entry: { id, name, state, reason: stray, message, startedAt: new Date(sinceMs).toISOString() },
        server: undefined,
        here: true,
        dueMs: nowMs + 10_000 // the agent's next report may tell that it is gone
      }
    })
}
