// From zero: a request to a function that rests, and a Node that wakes one.
import { atZero, becomesHypervisor } from '../../knative-cluster/hosts.ts'
import { hostOf, podsOf, post, type World } from '../../knative-cluster/world.ts'
import { sinceBoot, startedAt } from './processes.ts'

export async function coldReactions(world: World, times: number): Promise<number[]> {
  const found: number[] = []
  for (let n = 0; n < times; n++) {
    await atZero(world, 'hypervisor')
    found.push(await becomesHypervisor(world, `cold-${n}`))
  }
  return found
}

export interface ColdStart {
  /** Request to answer. */
  total: number
  /** Of it, from the start of the function's process to the answer; the rest is Knative's, the kubelet's and containerd's. */
  ours: number
}

export async function coldStarts(world: World, times: number): Promise<ColdStart[]> {
  const found: ColdStart[] = []
  const data = { apiVersion: 'v1', kind: 'Node', name: 'nobody' }
  for (let n = 0; n < times; n++) {
    await atZero(world, 'hypervisor')
    const { ms, status } = await post(world.gateway, { type: 'io.k8s.node.changed.v1' }, data, { host: hostOf('hypervisor') })
    const answered = await sinceBoot()
    if (status !== 204) throw new Error(`204 was expected, not ${status}`)
    const [pod] = await podsOf(world, 'hypervisor')
    const [pid] = await world.cluster.processes('/bin/node', pod?.metadata.uid)
    if (pid !== undefined) found.push({ total: ms, ours: answered - (await startedAt(pid)) })
  }
  return found
}
