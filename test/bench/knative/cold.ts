// From zero: a request to a function that rests, and a Node that wakes one.
import { randomUUID } from 'node:crypto'
import { atZero, becomesHypervisor } from '../../knative-cluster/hosts.ts'
import { Node } from '../../../shared/kube/index.ts'
import { hostOf, logged, podsOf, post, type World } from '../../knative-cluster/world.ts'
import { sinceBoot, startedAt } from '../lib/processes.ts'

export async function coldReactions(world: World, times: number): Promise<number[]> {
  const found: number[] = []
  for (let n = 0; n < times; n++) {
    await atZero(world, 'hypervisor')
    found.push(await becomesHypervisor(world, `cold-${n}`))
    await world.admin.delete(Node, { name: `cold-${n}` }) // else it is told to be unreachable, which wakes all functions once more
  }
  return found
}

export interface ColdStart {
  /** Request to answer. */
  total: number
  /** Of it, from the start of the function's process to its open port, and the handling of the event. */
  ours: number
  /** Between these two: the sidecar and the activator find out that it is ready. The rest is the kubelet's and containerd's. */
  probed: number
}

export async function coldStarts(world: World, times: number): Promise<ColdStart[]> {
  const found: ColdStart[] = []
  const data = { apiVersion: 'v1', kind: 'Node', name: 'nobody' }
  for (let n = 0; n < times; n++) {
    await atZero(world, 'hypervisor')
    const id = randomUUID()
    const { ms, status } = await post(world.gateway, { type: 'io.k8s.node.changed.v1', id }, data, { host: hostOf('hypervisor') })
    if (status !== 204) throw new Error(`204 was expected, not ${status}`)
    const [pod] = await podsOf(world, 'hypervisor')
    const [pid] = await world.cluster.processes('/bin/node', pod?.metadata.uid)
    const [listening] = await logged(world, 'hypervisor', '"listening"')
    const [handled] = await logged(world, 'hypervisor', id)
    if (pid === undefined || !listening || !handled) throw new Error('the function that answered is gone before it was looked at')
    const started = Date.now() - (await sinceBoot()) + startedAt(pid)
    const [open, done, took] = [Number(listening['time']), Number(handled['time']), Number(handled['ms'])]
    found.push({ total: ms, ours: open - started + took, probed: done - took - open })
  }
  return found
}
