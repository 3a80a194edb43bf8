import { Deployment, Node, PodDisruptionBudget } from '../../shared/kube/kinds.ts'
import { KubeError, type Kube } from '../../shared/kube/index.ts'
import type { KeptList } from '../../shared/kube/kept-list.ts'
import { isObserved } from '../../shared/kube/observe.ts'
import { tellActions, type Action } from '../../shared/openstack/audit.ts'
import type { Platform } from '../../shared/runtime/function.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { decide, isManaged, manager, taint, type Seen, type Step } from './decide.ts'
import { budget, deployment, type Options } from './render.ts'

export interface Deps extends Pick<Platform, 'clock' | 'log'> {
  kube: Kube
  /** For the fast tick, which only sees whether a host is due. */
  kept: { nodes: KeptList<Node>; hosts: KeptList<Hypervisor> }
  options: Options
  haWaitMs: number
  observe: boolean
}

export async function look(name: string, { kube }: Deps): Promise<Seen | undefined> {
  const [node, hypervisor] = await Promise.all([kube.find(Node, name), kube.find(Hypervisor, name)])
  return node && hypervisor && { node, hypervisor: { ...hypervisor, spec: hypervisor.spec ?? {} } }
}

export async function lookAtAll({ kube }: Deps): Promise<Seen[]> {
  const [nodes, hypervisors] = await Promise.all([kube.list(Node), kube.list(Hypervisor)])
  return pairs(nodes.items, hypervisors.items)
}

/** As they were a moment ago, and not all of each. */
export const glanceAtAll = async ({ kept: { nodes, hosts } }: Deps): Promise<Seen[]> =>
  pairs(...(await Promise.all([nodes.all(), hosts.all()])))

function pairs(nodes: readonly Node[], hypervisors: readonly Hypervisor[]): Seen[] {
  const nodeOf = new Map(nodes.map(node => [node.metadata?.name, node]))
  return hypervisors.flatMap(hypervisor => {
    const node = nodeOf.get(hypervisor.metadata.name)
    return node ? [{ node, hypervisor: { ...hypervisor, spec: hypervisor.spec ?? {} } }] : []
  })
}

export async function settle(seen: Seen, deps: Deps): Promise<void> {
  if (!isManaged(seen)) return
  const step = decide(seen, deps.clock(), deps.haWaitMs)
  if (isObserved(seen.hypervisor, deps)) {
    deps.log.info({ host: seen.node.metadata?.name, ...step }, 'would do') // HV-8
    return
  }
  const done = [...(await signal(seen, step, deps)), ...(await changeTaint(seen.node, step.taint, deps))]
  await tellActions(seen.hypervisor, manager, done, deps)
}

async function signal({ node, hypervisor }: Seen, step: Step, deps: Deps): Promise<Action[]> {
  const { kube, options } = deps
  const wanted = budget(node, step.signal, options)
  const { name = '', namespace } = wanted.metadata ?? {}
  const [pdb, pods] = await Promise.all([kube.find(PodDisruptionBudget, name, namespace), kube.find(Deployment, name, namespace)])
  const isNews = step.signal.released && pdb?.spec?.minAvailable !== 0
  if (isNews && step.haOverdue) await tellOverdue(hypervisor, deps) // first, so that nobody releases it without a word
  await kube.apply(Deployment, deployment(node, step.signal, options), { ...(pods && { live: pods }) })
  await kube.apply(PodDisruptionBudget, wanted, { ...(pdb && { live: pdb }) })
  return isNews && pdb ? [{ kind: 'machine', from: 'held', to: 'released', reason: 'the host has left OpenStack' }] : []
}

/** The list of taints has one owner for the server, so that ours is put into it, or taken out, without touching the others. */
async function changeTaint(node: Node, change: Step['taint'], { kube, log }: Deps): Promise<Action[]> {
  if (change === 'leave') return []
  const { name = '', resourceVersion } = node.metadata ?? {}
  const taints = node.spec?.taints ?? []
  const index = taints.findIndex(({ key, effect }) => key === taint.key && effect === taint.effect)
  const same = { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion } as const
  const put =
    taints.length > 0
      ? ({ op: 'add', path: '/spec/taints/-', value: taint } as const)
      : node.spec
        ? ({ op: 'add', path: '/spec/taints', value: [taint] } as const)
        : ({ op: 'add', path: '/spec', value: { taints: [taint] } } as const)
  const operation = change === 'add' ? put : ({ op: 'remove', path: `/spec/taints/${index}` } as const)
  try {
    await kube.patch(Node, { name }, [same, operation])
    const [from, to, reason] =
      change === 'add' ? ['absent', 'present', 'the host is empty'] : ['present', 'absent', 'the host stays']
    return [{ kind: `taint ${taint.key}`, from, to, reason }]
  } catch (err) {
    // written by somebody else since it was read, or gone: the fast tick comes back (isOpen)
    if (!(err instanceof KubeError) || !['Conflict', 'Invalid', 'NotFound'].includes(err.code)) throw err
    log.info({ err, host: name }, 'the node changed meanwhile')
    return []
  }
}

async function tellOverdue(hypervisor: Hypervisor, { kube }: Deps): Promise<void> {
  await kube.event(
    { ...hypervisor, apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor' },
    {
      type: 'Warning',
      reason: 'ReleasedWithHa',
      action: 'Release',
      note: 'High availability is still on, but the host has left OpenStack: the machine is released all the same.'
    }
  )
}
