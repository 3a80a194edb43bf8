// What the objects themselves betray: do ticks arrive, is OpenStack answered for, do agents speak?
import { Event, type Kube } from '../../kube/index.ts'
import { Eviction } from '../../schema/eviction.ts'
import { Hypervisor } from '../../schema/hypervisor.ts'
import { deadLetter } from '../../view/told.ts'
import { plural, span } from '../../view/time.ts'
import { bad, doubtful, fine, left, see, type Finding } from './finding.ts'

const overdueMs = 2 * 60_000
const cloudWords = /OpenStack|Nova|Placement|Keystone|Neutron|Glance/

/** A write that changes nothing is not made, so that only trouble shows for sure. */
function ofCloud(hosts: readonly Hypervisor[]): Finding {
  const managed = hosts.filter(({ spec }) => spec.lifecycleEnabled)
  if (managed.length === 0) return left('OpenStack', 'no host is managed, so that nobody asks it')
  const troubled = managed.flatMap(({ metadata, status }) => {
    const failed = status?.conditions?.find(
      ({ status: is, reason, message }) => is !== 'True' && reason === 'Failed' && cloudWords.test(message)
    )
    return failed ? [{ host: metadata.name, why: failed.message }] : []
  })
  const [first] = troubled
  if (first)
    return doubtful(
      'OpenStack',
      `${plural(troubled.length, 'host')} had trouble with it; ${first.host}: ${first.why}`,
      `drover describe ${first.host}`
    )
  const known = managed.filter(({ status }) => status?.nova?.checkedAt !== undefined)
  return known.length === 0
    ? doubtful(
        'OpenStack',
        'no host was ever read from Nova',
        'kubectl -n drover logs -l serving.knative.dev/service=maintenance'
      )
    : fine(
        'OpenStack',
        `Nova told of ${known.length} of ${plural(managed.length, 'managed host')}, and no host tells of trouble with it`
      )
}

/** What waits says when it is looked at again: if that is long ago, no tick came. */
function ofTicks(hosts: readonly Hypervisor[], evictions: readonly Eviction[], now: Date): Finding {
  const waiting = [
    ...evictions.map(({ metadata, status }) => ({
      who: `Eviction ${metadata.name}`,
      at: isFinal(status) ? undefined : status?.nextCheckAt
    })),
    ...hosts.map(({ metadata, status }) => ({ who: metadata.name, at: status?.ha?.nextCheckAt }))
  ]
  const first = waiting.find(({ at }) => at !== undefined && now.getTime() - Date.parse(at) > overdueMs)
  if (!first?.at) return fine('time', 'nothing that waits is overdue')
  const since = span(now.getTime() - Date.parse(first.at))
  return bad(
    'time',
    `${first.who} was to be looked at ${since} ago: no tick arrives`,
    'kubectl -n drover get pingsources,triggers'
  )
}
const isFinal = (status: Eviction['status']): boolean => status?.verdict !== undefined

function ofAgents(hosts: readonly Hypervisor[]): Finding[] {
  const told = hosts.filter(({ status }) => status?.agent?.lastHeartbeat !== undefined)
  const silent = hosts.filter(({ status }) =>
    status?.conditions?.some(({ type, reason }) => type === 'Ready' && reason === 'AgentLost')
  )
  if (silent.length > 0) {
    const names = silent.map(({ metadata }) => metadata.name)
    return [
      bad(
        'heartbeats',
        `${plural(silent.length, 'agent')} silent: ${names.slice(0, 5).join(', ')}`,
        `drover describe ${names[0]}`
      )
    ]
  }
  if (told.length === 0)
    return [left('heartbeats', hosts.length === 0 ? 'there are no hosts yet' : 'no host has an agent that speaks')]
  return [fine('heartbeats', `${told.length} of ${plural(hosts.length, 'host')} have an agent that speaks`)]
}

export async function checkSigns(kube: Kube, now: Date): Promise<Finding[]> {
  const absent = { tone: 'bad' as const, line: 'the kind is not installed', todo: 'kubectl apply -k crds/' }
  const [hosts, evictions, letters] = await Promise.all([
    see(kube, Hypervisor, absent),
    see(kube, Eviction, absent),
    see(kube, Event, { tone: 'rest', line: 'this API keeps no Events' }, { fieldSelector: `reason=${deadLetter.reason}` })
  ])
  const drains = 'problem' in evictions ? [] : evictions.items
  const ofHosts =
    'problem' in hosts ? [hosts.problem] : [ofCloud(hosts.items), ofTicks(hosts.items, drains, now), ...ofAgents(hosts.items)]
  if ('problem' in letters) return [...ofHosts, letters.problem]
  const count = letters.items.length
  return [
    ...ofHosts,
    count === 0
      ? fine('dead letters', 'none within the last hour')
      : doubtful('dead letters', `${plural(count, 'event')} could not be handled within the last hour`, 'drover deadletters')
  ]
}
