// What a fact of libvirt says about the connection and the host
import type { Known } from './known.ts'
import type { Fact } from './libvirt/fact.ts'
import type { AgentMetrics } from './metrics.ts'

export function learn(known: Known, fact: Fact, counts: AgentMetrics): void {
  const say = (status: 'True' | 'False', reason: string, message: string): void => {
    known.connection = { type: 'LibVirtConnection', status, reason, message }
  }
  if (fact.kind === 'connected') counts.sessions.inc()
  if (fact.kind === 'connected' || fact.kind === 'link') {
    const { unread, failed } = fact.link
    known.link = { ...known.link, ...fact.link } // what could be read before stays known
    if (unread.length === 0) known.problems.delete('link')
    else known.problems.set('link', `not read: ${unread.join('; ')}`)
    if (failed) say('False', 'ProcessFailed', unread.join('; '))
    else say('True', 'Connected', 'libvirt answers')
  } else if (fact.kind === 'unreachable') say('False', fact.reason, fact.message)
  else if (fact.kind === 'lost') say('False', 'ConnectFailed', fact.message)
  else if (fact.kind === 'overflow') {
    counts.dropped.inc(fact.dropped)
    known.problems.set('overflow', 'events of libvirt were lost; the domains are listed anew')
  } else if (fact.kind === 'snapshot') known.problems.delete('overflow')
}
