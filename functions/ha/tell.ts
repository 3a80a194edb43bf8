// What happened, for people (Events) and for others (the trail, HA-50). The status is the record; who listens must not hold up the next look.
import { decisionClosed, serverBlocked, serverRecovered } from '../../shared/events/workflow.ts'
import type { Kube } from '../../shared/kube/connect.ts'
import type { Platform } from '../../shared/runtime/function.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'
import type { News } from './seen.ts'

export interface Teller {
  tell(hypervisor: Hypervisor, news: readonly News[]): void
  close(): Promise<void>
}

/** At most so many are on their way at a time; of a storm the rest waits, one after the other. */
const lanes = 16
const mostWaiting = 5000

export function newsTeller({ kube, emit, log }: { kube: Kube } & Pick<Platform, 'emit' | 'log'>): Teller {
  const waiting: Array<() => Promise<void>> = []
  const running = new Set<Promise<void>>()
  const begin = (): void => {
    while (running.size < lanes) {
      const next = waiting.shift()
      if (!next) return
      const told = next()
        .catch((err: unknown) => log.warn({ err }, 'could not be told'))
        .finally(() => {
          running.delete(told)
          begin()
        })
      running.add(told)
    }
  }
  return {
    tell({ metadata: { name, uid } }, news) {
      const about = { apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor', metadata: { name, ...(uid && { uid }) } }
      const add = (reason: string, task: () => Promise<void>): void => {
        if (waiting.length < mostWaiting) waiting.push(task)
        else log.warn({ host: name, reason }, 'not told: too much waits to be told; it is in the status')
      }
      for (const { type, reason, note } of inFewWords(news))
        add(reason, () => kube.event(about, { type, reason, action: 'React', note }))
      for (const one of news) for (const event of trailOf(name, one)) add(one.reason, () => emit(event))
      begin()
    },
    async close() {
      while (running.size > 0) await Promise.all(running)
    }
  }
}

const mostAlike = 3
const longestNote = 1000

/** Of a host whose servers fail together people read one line; each server is in the trail and in the status (HA-17). Pure. */
export function inFewWords(news: readonly News[]): Pick<News, 'type' | 'reason' | 'note'>[] {
  const alike = Map.groupBy(news, ({ type, reason }) => `${type} ${reason}`)
  return [...alike.values()].flatMap(all => {
    const [first] = all
    if (all.length <= mostAlike || !first)
      return all.map(({ type, reason, note }) => ({ type, reason, note: note.slice(0, longestNote) }))
    const others = ` And ${all.length - 1} more at the same time: see status.ha.`
    const note = `${first.note.slice(0, longestNote - others.length)}${others}`
    return [{ type: first.type, reason: first.reason, note }]
  })
}

type Outgoing = Parameters<Platform['emit']>[0]

/** The id is that of the decision: told twice, it is one fact. */
function trailOf(host: string, { event, decision, reason, note, trace }: News): Outgoing[] {
  if (!decision) return []
  const about = { subject: host, partitionkey: host, ...(trace !== undefined && { traceparent: trace }) }
  const id = `${host}/${decision.decisionId}/${decision.state}`
  const closed = { kind: decisionClosed, id: `${id}/closed`, ...about, data: { host, decision: decision.decisionId, reason } }
  if (!event) return [closed]
  const kind = event.kind === 'recovered' ? serverRecovered : serverBlocked
  return [{ kind, id, ...about, data: { host, server: event.server, reason: note.slice(0, 500) } }, closed]
}
