// A Broker for one test, and the sinks behind it.
import type { Test } from 'tap'
import { httpSink, type Received, type Respond, type Sink } from '../local/broker/sinks.ts'
import { eventually } from '../servers/eventually.ts'
import { allReady, apply, freshNamespace, patience, post, type World } from './world.ts'

const eventing = 'eventing.knative.dev/v1'
const probe = 'probe.drover.dev'
const isProbe = ({ headers, body }: Received): boolean => headers['ce-type'] === probe || body.includes(`"${probe}"`)

/** One that pods reach. */
export const clusterSink = (t: Test, { cluster }: World, respond?: Respond): Promise<Sink> =>
  httpSink(t, respond, cluster.host, isProbe)

const triggerIn = (namespace: string, name: string, spec: object, annotations?: Record<string, string>) => ({
  apiVersion: eventing,
  kind: 'Trigger',
  metadata: { name, namespace, ...(annotations && { annotations }) },
  spec: { broker: 'b', ...spec }
})

/**
 * The in-memory class says that a Trigger is ready while its channel has not looked at it yet, and drops what is for it (eventing 0.50,
 * inmemorychannel.go: what is not ready is skipped, and its subscribers are called ready). One more Trigger that comes last tells when all serve.
 */
export async function serving(t: Test, world: World, namespace: string, url: string): Promise<void> {
  const triggers = `/apis/${eventing}/namespaces/${namespace}/triggers`
  await allReady(world.cluster, triggers)
  if (world.class.storesFirst) return
  const sink = await httpSink(t, undefined, world.cluster.host)
  await apply(world, triggerIn(namespace, 'probe', { filter: { attributes: { type: probe } }, subscriber: { uri: sink.url } }))
  const told = async () => (await post(url, { type: probe }, {})).status === 202 && sink.received.length > 0
  await eventually(`the Triggers of ${namespace} to serve`, told, patience)
  await allReady(world.cluster, triggers)
}

export interface Made {
  namespace: string
  url: string
}

/** A Broker `b` in a namespace of its own, and Triggers by name, as soon as they serve. */
export async function brokerFor(
  t: Test,
  world: World,
  about: string,
  triggers: Record<string, object>,
  spec?: object
): Promise<Made> {
  const { annotations, config, triggerAnnotations, address } = world.class
  const namespace = await freshNamespace(world, about)
  const metadata = { name: 'b', namespace, ...(annotations && { annotations }) }
  await apply(
    world,
    { apiVersion: eventing, kind: 'Broker', metadata, spec: { ...spec, ...(config && { config }) } },
    ...Object.entries(triggers).map(([name, of]) => triggerIn(namespace, name, of, triggerAnnotations))
  )
  await allReady(world.cluster, `/apis/${eventing}/namespaces/${namespace}/brokers`)
  const url = await address(world, namespace, 'b')
  await serving(t, world, namespace, url)
  return { namespace, url }
}
