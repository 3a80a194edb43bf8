// Node labelled → cluster agent → Broker → Trigger → function, from zero → Hypervisor with conditions.
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { callsOf, curl } from '../../shared/install/calls.ts'
import { manifests } from '../../shared/install/manifests.ts'
import { Node } from '../../shared/kube/index.ts'
import { traceOf } from '../../shared/runtime/emitter.ts'
import { traceId } from '../../shared/runtime/log.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { eventually } from '../servers/eventually.ts'
import { nextTag, notOf, overlay } from './overlay.ts'
import { allReady, deliver, logged, patience, podsOf, type World } from './world.ts'

export const virtDriver = { 'nova.openstack.cloud.sap/virt-driver': 'kvm' }

/** Milliseconds until the Node's Hypervisor is there with its condition. */
export async function becomesHypervisor({ admin }: World, name: string, within = patience): Promise<number> {
  const started = performance.now()
  await admin.create(Node, { metadata: { name, labels: virtDriver } })
  await eventually(
    `the Hypervisor of ${name}`,
    async () => (await admin.find(Hypervisor, name))?.status?.conditions?.some(({ type }) => type === 'Ready'),
    within
  )
  return performance.now() - started
}

/** The fast tick comes every ten seconds, so that no function that hears it ever rests; a test of rest stops it. */
export const stopTicks = async (world: World): Promise<void> => {
  for (const name of ['tick-fast', 'tick-slow'])
    await world.cluster.kubectl([
      'patch',
      'pingsource',
      name,
      '-n',
      'drover',
      '--type=merge',
      '-p',
      '{"spec":{"schedule":"0 0 1 1 *"}}'
    ])
}

export const atZero = (world: World, fn: string): Promise<true> =>
  eventually(
    `${fn} to scale to zero`,
    async () => {
      if ((await podsOf(world, fn)).length === 0) return true
      await new Promise(resolve => setTimeout(resolve, 200))
      return undefined
    },
    patience
  )

export async function fromZero(t: Test, world: World): Promise<void> {
  const { admin, tag } = world
  await stopTicks(world)
  await atZero(world, 'hypervisor')
  const cold = await becomesHypervisor(world, `${tag}-cold`)
  t.ok((await podsOf(world, 'hypervisor')).length > 0, 'the event woke the function')
  const warm: number[] = []
  for (let i = 0; i < 5; i++) warm.push(await becomesHypervisor(world, `${tag}-warm-${i}`))
  t.comment(`Node → Hypervisor: cold ${cold.toFixed(0)} ms, warm ${warm.map(ms => ms.toFixed(0)).join(', ')} ms`)
  const stored = await admin.find(Hypervisor, `${tag}-cold`)
  t.match(stored?.metadata.ownerReferences, [{ kind: 'Node', name: `${tag}-cold` }])
  t.match(stored?.status?.conditions, [{ type: 'Ready', status: 'False', reason: 'Onboarding' }])
}

/** The lines of knative/README.md as they stand there, but for the way to the gateway, which a pod finds by its name. */
export async function direct(t: Test, { gateway }: World): Promise<void> {
  for (const call of callsOf(await manifests())) {
    const { stdout } = await promisify(execFile)('sh', ['-c', `${curl(call)} --connect-to ::${new URL(gateway).hostname}:80`])
    t.equal(stdout.trim(), '204', call.name)
  }
}

/** What the cluster agent tells bears a trace that is in the log of the function; one that was begun elsewhere goes on. */
export async function traced(t: Test, world: World): Promise<void> {
  const { admin, broker, tag } = world
  const uid = (await admin.find(Node, `${tag}-warm-4`))?.metadata?.uid ?? ''
  const line = await eventually('the event in the log', async () => (await logged(world, 'hypervisor', uid))[0], patience)
  t.equal(line['trace_id'], traceId(traceOf('/cluster-agent', String(line['id']))), 'the trace began in the cluster agent')
  const trace = randomUUID().replaceAll('-', '')
  const data = { apiVersion: 'v1', kind: 'Node', name: `${tag}-cold` }
  const traceparent = `00-${trace}-b7ad6b7169203331-01`
  await deliver(broker, { type: 'io.k8s.node.changed.v1', changed: 'labels', traceparent, trace: traceparent }, data)
  const found = await eventually('the trace in the log', async () => (await logged(world, 'hypervisor', trace))[0], patience)
  t.match(found, { trace_id: trace })
}

/** The optional component in place of the cluster agent, by an overlay as its file says; one function's Triggers will do. */
export async function apiServerSource(t: Test, world: World): Promise<void> {
  const { admin, cluster, tag } = world
  const folder = await overlay(cluster, { components: ['apiserversource'], tag: nextTag, leftOut: notOf('hypervisor') })
  await cluster.kubectl(['apply', '-k', folder])
  await cluster.kubectl(['delete', 'deployment,pdb,sinkbinding', 'cluster-agent', '-n', 'drover', '--ignore-not-found'])
  await stopTicks(world)
  await allReady(cluster, '/apis/sources.knative.dev/v1/namespaces/drover/apiserversources')
  await allReady(cluster, '/apis/eventing.knative.dev/v1/namespaces/drover/triggers', 2 * patience)
  const data = { apiVersion: 'v1', kind: 'Node', name: `${tag}-cold` }
  const attributes = { type: 'dev.knative.apiserver.ref.update', kind: 'Node', name: `${tag}-cold`, apiversion: 'v1' }
  const served = async () => {
    const id = randomUUID()
    await deliver(world.broker, { ...attributes, id }, data)
    return (await logged(world, 'hypervisor', id)).length > 0
  }
  await eventually('the new Triggers to serve', served, patience) // ready is not yet serving, see broker.ts
  const ms = await becomesHypervisor(world, `${tag}-apiserversource`)
  t.comment(`Node → Hypervisor by ApiServerSource: ${ms.toFixed(0)} ms`)
  t.match((await admin.find(Hypervisor, `${tag}-apiserversource`))?.status?.conditions, [{ type: 'Ready' }])
}
