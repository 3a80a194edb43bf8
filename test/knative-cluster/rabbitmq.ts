// The durable broker class on a real RabbitMQ.
import type { Test } from 'tap'
import { installRabbitMq } from '../servers/knative/rabbitmq.ts'
import type { Lab } from './agents.ts'
import { rabbitMqClass } from './broker-class.ts'
import { endToEnd } from './end-to-end.ts'
import { bound, everyServiceReady } from './installed.ts'
import { durable } from './losses.ts'
import { nextTag, notOf, overlay } from './overlay.ts'
import type { World } from './world.ts'

/** The world with Drover's own Broker of this class. */
export async function rabbitMq(t: Test, world: World, lab: Lab): Promise<World> {
  const rabbit = await installRabbitMq(world.cluster)
  const second = { ...world, class: rabbitMqClass(rabbit), tag: `${world.tag}-rabbit` }
  const name = '5,000 events, and RabbitMQ, a dispatcher and an ingress are killed among them: nothing is lost'
  await t.test(name, t => durable(t, second, rabbit))
  const moved = await move(second)
  await t.test('end to end', t => endToEnd(t, moved, lab))
  return moved
}

/** Drover's own Broker becomes one of this class, as README tells. With the Triggers of one function: this class runs two pods for each. */
async function move(world: World): Promise<World> {
  const { cluster } = world
  for (const kind of ['broker', 'trigger', 'apiserversource']) await cluster.kubectl(['delete', kind, '--all', '-n', 'drover'])
  const folder = await overlay(cluster, { components: ['rabbitmq'], tag: nextTag, leftOut: notOf('hypervisor') })
  await cluster.kubectl(['apply', '-k', folder])
  await cluster.kubectl(['wait', '--for=condition=Ready', '--timeout=300s', '-n', 'drover', 'broker/default'])
  for (const namespace of bound)
    await cluster.kubectl(['annotate', 'sinkbinding', '--all', '--overwrite', '-n', namespace, 'drover.dev/broker=rabbitmq'])
  await everyServiceReady(world)
  return { ...world, broker: await world.class.address(world, 'drover', 'default') }
}
