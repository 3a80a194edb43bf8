// Broker, Triggers, ticks and functions: is everything of knative/ there, and Ready?
import { type Deployment, Deployment as DeploymentKind, type Kube } from '../../kube/index.ts'
import type { Kind, KubeObject } from '../../schema/kind.ts'
import { bad, conditionOf, doubtful, fine, foreign, see, type Conditioned, type Finding } from './finding.ts'
import type { Manifest } from './installed.ts'

const install = 'kubectl apply -k knative/'
const knative: Array<[about: string, kind: Kind<Conditioned>, absent: string]> = [
  ['broker', foreign('eventing.knative.dev', 'v1', 'Broker', 'brokers'), 'Knative Eventing is not installed'],
  ['triggers', foreign('eventing.knative.dev', 'v1', 'Trigger', 'triggers'), 'Knative Eventing is not installed'],
  ['ticks', foreign('sources.knative.dev', 'v1', 'PingSource', 'pingsources'), 'Knative Eventing is not installed'],
  ['sinks', foreign('sources.knative.dev', 'v1', 'SinkBinding', 'sinkbindings'), 'Knative Eventing is not installed'],
  ['functions', foreign('serving.knative.dev', 'v1', 'Service', 'services'), 'Knative Serving is not installed']
]

interface DaemonSet extends KubeObject {
  status?: { desiredNumberScheduled?: number; numberReady?: number }
}
const DaemonSet = foreign<DaemonSet>('apps', 'v1', 'DaemonSet', 'daemonsets')

const keyOf = ({ metadata }: { metadata?: { name?: string; namespace?: string } }): string =>
  `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`

function judge(about: string, wanted: readonly Manifest[], found: readonly Conditioned[]): Finding[] {
  const byKey = new Map(found.map(object => [keyOf(object), object]))
  const missing = wanted.filter(manifest => !byKey.has(keyOf(manifest)))
  const unready = wanted.flatMap(manifest => {
    const object = byKey.get(keyOf(manifest))
    const ready = object && conditionOf(object, 'Ready')
    if (!object || ready?.status === 'True') return []
    const { kind, metadata } = manifest
    const why = [ready?.reason, ready?.message].filter(Boolean).join(': ') || 'it has not said anything yet'
    return [
      bad(
        about,
        `${kind} ${metadata.name} is not Ready: ${why}`,
        `kubectl -n ${metadata.namespace} describe ${kind.toLowerCase()} ${metadata.name}`
      )
    ]
  })
  if (missing.length > 0) {
    const names = missing.map(({ metadata }) => metadata.name)
    return [
      bad(
        about,
        `${names.length} of ${wanted.length} are missing: ${names.slice(0, 5).join(', ')}${names.length > 5 ? ' …' : ''}`,
        install
      ),
      ...unready
    ]
  }
  return unready.length > 0 ? unready : [fine(about, `${wanted.length} of ${wanted.length} are Ready`)]
}

export async function checkKnative(kube: Kube, all: readonly Manifest[]): Promise<Finding[]> {
  const groups = await Promise.all(
    knative.map(async ([about, kind, absent]) => {
      const seen = await see(kube, kind, {
        tone: 'bad',
        line: absent,
        todo: 'install Knative first: https://knative.dev/docs/install'
      })
      if ('problem' in seen) return [{ ...seen.problem, about }]
      const version = `${kind.group}/${kind.version}`
      return judge(
        about,
        all.filter(manifest => manifest.apiVersion === version && manifest.kind === kind.kind),
        seen.items
      )
    })
  )
  return groups.flat()
}

const available = ({ spec, status }: Deployment): boolean => (status?.availableReplicas ?? 0) >= (spec?.replicas ?? 1)

export async function checkAgents(kube: Kube, all: readonly Manifest[]): Promise<Finding[]> {
  const absent = { tone: 'bad' as const, line: 'this is no Kubernetes API', todo: 'look at the kubeconfig' }
  const [deployments, daemonSets] = await Promise.all([see(kube, DeploymentKind, absent), see(kube, DaemonSet, absent)])
  const findings: Finding[] = []
  for (const { kind, metadata } of all.filter(one => one.kind === 'Deployment' || one.kind === 'DaemonSet')) {
    const about = metadata.name
    const seen = kind === 'Deployment' ? deployments : daemonSets
    if ('problem' in seen) {
      findings.push({ ...seen.problem, about })
      continue
    }
    const found = seen.items.find(object => keyOf(object) === keyOf({ metadata }))
    const look = `kubectl -n ${metadata.namespace} describe ${kind.toLowerCase()} ${metadata.name}`
    if (!found) findings.push(bad(about, `its ${kind} is missing`, install))
    else if (kind === 'Deployment')
      findings.push(
        available(found as Deployment) ? fine(about, 'runs') : bad(about, 'none of it runs: nothing is told of changes', look)
      )
    else {
      const { desiredNumberScheduled: wanted = 0, numberReady = 0 } = (found as DaemonSet).status ?? {}
      findings.push(
        numberReady >= wanted
          ? fine(about, `runs on ${numberReady} of ${wanted} nodes`)
          : doubtful(about, `runs on ${numberReady} of ${wanted} nodes`, look)
      )
    }
  }
  return findings
}
