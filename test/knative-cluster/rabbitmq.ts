// The durable broker class on a real RabbitMQ.
import type { Test } from 'tap'
import { clusterAgent } from '../../agents/cluster/agent.ts'
import { startAgent } from '../../shared/runtime/agent.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { installRabbitMq } from '../servers/knative/rabbitmq.ts'
import type { Lab } from './agents.ts'
import { rabbitMqClass } from './broker-class.ts'
import { brokerFor } from './broker.ts'
import { endToEnd } from './end-to-end.ts'
import { becomesHypervisor } from './hosts.ts'
import { everyServiceReady } from './installed.ts'
import { durable } from './losses.ts'
import { notOf, overlay } from './overlay.ts'
import type { World } from './world.ts'

export async function rabbitMq(t: Test, world: World): Promise<void> {
  const rabbit = await installRabbitMq(world.cluster)
  const second = { ...world, class: rabbitMqClass(rabbit), tag: `${world.tag}-rabbit` }
  await t.test('Node → cluster agent → RabbitMQBroker → function → Hypervisor', t => host(t, second))
  const name = '5,000 events, and RabbitMQ, a dispatcher and an ingress are killed among them: nothing is lost'
  await t.test(name, t => durable(t, second, rabbit))
}

/** A Broker beside Drover's own, told by an agent beside the installed one, which rests meanwhile. */
async function host(t: Test, world: World): Promise<void> {
  const { admin, cluster, tag } = world
  const ref = { apiVersion: 'serving.knative.dev/v1', kind: 'Service', name: 'hypervisor', namespace: 'drover' }
  const delivery = { retry: 5, backoffPolicy: 'exponential', backoffDelay: 'PT0.2S', timeout: 'PT20S' }
  const { url } = await brokerFor(t, world, 'hosts', { t: { subscriber: { ref }, delivery } })
  const replicas = (n: number) => cluster.kubectl(['scale', 'deployment/cluster-agent', '-n', 'drover', `--replicas=${n}`])
  await replicas(0)
  const env = { KUBECONFIG: cluster.kubeconfig, K_SINK: url, WATCH_MACHINES: 'false', LOG_LEVEL: 'silent' }
  const agent = await startAgent(clusterAgent, { env: { ...env, PORT: '0', HOST: '127.0.0.1' } })
  t.teardown(() => agent.close())
  t.comment(`Node → Hypervisor: ${(await becomesHypervisor(world, `${tag}-host`)).toFixed(0)} ms`)
  t.match((await admin.find(Hypervisor, `${tag}-host`))?.status?.conditions, [{ type: 'Ready' }])
  await replicas(2)
}

/** Drover's own Broker becomes one of this class, as README tells. With the Triggers of one function: this class runs two pods for each. */
export async function movedToRabbitMq(t: Test, world: World, lab: Lab): Promise<void> {
  const { cluster } = world
  const ofClass = rabbitMqClass(await installRabbitMq(cluster))
  for (const kind of ['broker', 'trigger', 'apiserversource']) await cluster.kubectl(['delete', kind, '--all', '-n', 'drover'])
  const folder = await overlay(cluster, { components: ['rabbitmq'], tag: '0.1.1', leftOut: notOf('hypervisor') })
  await cluster.kubectl(['apply', '-k', folder])
  await everyServiceReady(world)
  const broker = await ofClass.address(world, 'drover', 'default')
  await endToEnd(t, { ...world, class: ofClass, broker, tag: `${world.tag}-moved` }, lab)
}
