// Node labelled → cluster agent → Broker → Trigger → function, from zero → Hypervisor with conditions.
import { mkdtemp, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Test } from 'tap'
import { Node } from '../../shared/kube/index.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { eventually } from '../servers/eventually.ts'
import { allReady, deliver, hostOf, patience, podsOf, post, type World } from './world.ts'

export const virtDriver = { 'nova.openstack.cloud.sap/virt-driver': 'kvm' }

/** Milliseconds until the Node's Hypervisor is there with its condition. */
export async function becomesHypervisor({ admin }: World, name: string): Promise<number> {
  const started = performance.now()
  await admin.create(Node, { metadata: { name, labels: virtDriver } })
  await eventually(
    `the Hypervisor of ${name}`,
    async () => (await admin.find(Hypervisor, name))?.status?.conditions?.some(({ type }) => type === 'Ready'),
    patience
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
  await stopTicks(world)
  await atZero(world, 'hypervisor')
  const cold = await becomesHypervisor(world, 'hv-cold')
  t.ok((await podsOf(world, 'hypervisor')).length > 0, 'the event woke the function')
  const warm: number[] = []
  for (let i = 0; i < 5; i++) warm.push(await becomesHypervisor(world, `hv-warm-${i}`))
  t.comment(`Node → Hypervisor: cold ${cold.toFixed(0)} ms, warm ${warm.map(ms => ms.toFixed(0)).join(', ')} ms`)
  const stored = await world.admin.find(Hypervisor, 'hv-cold')
  t.match(stored?.metadata.ownerReferences, [{ kind: 'Node', name: 'hv-cold' }])
  t.match(stored?.status?.conditions, [{ type: 'Ready', status: 'False', reason: 'Onboarding' }])
}

/** Each function answers an event that is sent to its own address, from zero too. */
export async function direct(t: Test, world: World, functions: string[]): Promise<void> {
  for (const fn of functions) {
    const answer = await post(world.gateway, { type: 'dev.knative.sources.ping' }, { tick: 'fast' }, { host: hostOf(fn) })
    t.equal(answer.status, 204, `${fn} answers in ${answer.ms.toFixed(0)} ms`)
    t.equal(answer.body, '', 'and with nothing that a broker could take for an event')
  }
}

export async function traced(t: Test, world: World): Promise<void> {
  const trace = 'abcdef0123456789abcdef0123456789'
  const data = { apiVersion: 'v1', kind: 'Node', name: 'hv-cold' }
  const traceparent = `00-${trace}-b7ad6b7169203331-01`
  await deliver(`${world.ingress}/drover/default`, { type: 'io.k8s.node.changed.v1', changed: 'labels', traceparent }, data)
  const line = await eventually(
    'the trace in the log of the function',
    async () => {
      for (const { metadata } of await podsOf(world, 'hypervisor')) {
        const log = await world.cluster.kubectl(['logs', '-n', 'drover', metadata.name, '-c', 'function', '--tail=200'])
        const found = log.split('\n').find(line => line.includes(trace))
        if (found !== undefined) return found
      }
      return undefined
    },
    patience
  )
  t.match(JSON.parse(line), { trace_id: trace })
}

/** The optional component in place of the cluster agent, by an overlay as its file says. */
export async function apiServerSource(t: Test, world: World): Promise<void> {
  const { cluster } = world
  const folder = await mkdtemp(join(cluster.folder, 'overlay-'))
  const knative = relative(folder, join(import.meta.dirname, '../../knative'))
  const overlay = { resources: [knative], components: [join(knative, 'components/apiserversource')] }
  await writeFile(join(folder, 'kustomization.yaml'), JSON.stringify(overlay))
  await cluster.kubectl(['delete', 'deployment/cluster-agent', '-n', 'drover'])
  await cluster.kubectl(['apply', '-k', folder])
  await stopTicks(world)
  await allReady(cluster, '/apis/sources.knative.dev/v1/namespaces/drover/apiserversources')
  await allReady(cluster, '/apis/eventing.knative.dev/v1/namespaces/drover/triggers', 2 * patience)
  const ms = await becomesHypervisor(world, 'hv-apiserversource')
  t.comment(`Node → Hypervisor by ApiServerSource: ${ms.toFixed(0)} ms`)
  t.match((await world.admin.find(Hypervisor, 'hv-apiserversource'))?.status?.conditions, [{ type: 'Ready' }])
}
