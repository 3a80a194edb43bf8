// What a pass changed, as events for others (EV-27) and for people. Ids are made of the fact, so that a repeated pass tells nothing new.
import { evictionFinished, evictionStarted, serverBlocked, serverMoved } from '../../shared/events/workflow.ts'
import type { Happening } from '../../shared/kube/index.ts'
import type { Outgoing } from '../../shared/runtime/emitter.ts'
import type { Eviction } from '../../shared/schema/eviction.ts'
import { notConverging } from './moves.ts'
import type { Entry, Status } from './seen.ts'

export interface News {
  events: Outgoing[]
  happenings: Happening[]
}

const stuck = new Set<Entry['state']>(['Blocked', 'Failed'])

export function newsOf({ metadata, spec, status: before }: Eviction, after: Status): News {
  const { name, uid = '' } = metadata
  const evicted = { eviction: name, host: spec.hypervisor }
  const about = { subject: name, partitionkey: spec.hypervisor }
  // times are whole seconds, and a person may be quick to try again
  const isNew = before?.startedAt !== after.startedAt || before?.retryToken !== after.retryToken
  const run = `${uid}/${after.startedAt ?? ''}${after.retryToken ? `/${after.retryToken}` : ''}`
  const news: News = { events: [], happenings: [] }
  const known = new Map((isNew ? [] : (before?.instances ?? [])).map(entry => [entry.id, entry]))
  if (isNew) news.events.push({ kind: evictionStarted, id: `${run}/started`, ...about, data: evicted })
  for (const { id, state, destination, reason, message } of after.instances ?? []) {
    if (reason === notConverging && known.get(id)?.reason !== reason)
      news.happenings.push({ type: 'Warning', reason, action: 'Move', note: `Server ${id}: ${message ?? reason}` }) // EV-18
    if (known.get(id)?.state === state) continue
    const data = { ...evicted, server: id, ...(destination && { destination }), ...(reason && { reason }) }
    if (state === 'Done') news.events.push({ kind: serverMoved, id: `${run}/${id}/moved`, ...about, data })
    if (!stuck.has(state)) continue
    news.events.push({ kind: serverBlocked, id: `${run}/${id}/blocked`, ...about, data })
    news.happenings.push({
      type: 'Warning',
      reason: reason ?? state,
      action: 'Move',
      note: `Server ${id} cannot be moved: ${message ?? reason ?? state}`
    })
  }
  if (after.verdict && (isNew || before?.verdict !== after.verdict)) {
    const servers = (after.instances ?? []).map(({ id, state, reason }) => (reason ? { id, state, reason } : { id, state }))
    const data = { ...evicted, verdict: after.verdict, servers }
    news.events.push({ kind: evictionFinished, id: `${run}/${after.verdict}`, ...about, data })
    const good = after.verdict === 'Succeeded' || after.verdict === 'Planned'
    const note = `${after.verdict}: ${after.progress?.done ?? 0} of ${after.progress?.total ?? 0} servers left the host.`
    news.happenings.push({ type: good ? 'Normal' : 'Warning', reason: after.verdict, action: 'Evict', note })
  }
  return news
}
