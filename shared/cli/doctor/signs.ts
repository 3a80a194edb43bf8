// What the objects themselves betray: do ticks arrive, is OpenStack answered for, do agents speak?
import { Event, type Kube } from '../../kube/index.ts'
import { Hypervisor } from '../../schema/hypervisor.ts'
import { deadLetter } from '../../view/told.ts'
import { plural, span } from '../../view/time.ts'
import { bad, doubtful, fine, left, see, type Finding } from './finding.ts'

const slowTickMs = 10 * 60_000
const newest = (times: Array<string | undefined>): number => Math.max(...times.map(time => Date.parse(time ?? '') || 0), 0)

/** Every managed host is read from Nova with the slow tick. */
function ofNova(hosts: readonly Hypervisor[], now: Date): Finding[] {
  const managed = hosts.filter(({ spec }) => spec.lifecycleEnabled)
  const at = newest(managed.map(({ status }) => status?.nova?.checkedAt))
  if (managed.length === 0)
    return [left('OpenStack', 'no host is managed, so that nobody asks it'), left('ticks', 'no host tells of one')]
  if (at === 0)
    return [
      doubtful(
        'OpenStack',
        'no host was ever read from Nova',
        'kubectl -n drover logs -l serving.knative.dev/service=maintenance'
      ),
      doubtful('ticks', 'no host tells of one', 'kubectl -n drover get pingsources')
    ]
  const age = now.getTime() - at
  const ago = `Nova was last read ${span(age)} ago`
  if (age <= 2.5 * slowTickMs)
    return [fine('OpenStack', ago), fine('ticks', 'arrive: everything was looked at within the last round')]
  return [
    bad('OpenStack', ago, 'kubectl -n drover logs -l serving.knative.dev/service=maintenance tells why'),
    bad(
      'ticks',
      `nothing was looked at for ${span(age)}; a tick comes every ${span(slowTickMs)}`,
      'kubectl -n drover get pingsources,triggers'
    )
  ]
}

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
  const [hosts, letters] = await Promise.all([
    see(kube, Hypervisor, { tone: 'bad', line: 'the kind is not installed', todo: 'kubectl apply -k crds/' }),
    see(kube, Event, { tone: 'rest', line: 'this API keeps no Events' }, { fieldSelector: `reason=${deadLetter.reason}` })
  ])
  const ofHosts = 'problem' in hosts ? [hosts.problem] : [...ofNova(hosts.items, now), ...ofAgents(hosts.items)]
  if ('problem' in letters) return [...ofHosts, letters.problem]
  const count = letters.items.length
  return [
    ...ofHosts,
    count === 0
      ? fine('dead letters', 'none within the last hour')
      : doubtful('dead letters', `${plural(count, 'event')} could not be handled within the last hour`, 'drover deadletters')
  ]
}
