// A second, durable broker class on the cluster: eventing-rabbitmq on a real RabbitMQ.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { eventually } from '../eventually.ts'
import { say } from '../say.ts'
import type { Cluster } from './cluster.ts'
import { apply } from './install.ts'
import { knativeFolder } from './prepare.ts'

const run = promisify(execFile)
const home = 'rabbitmq-system'

export interface RabbitMq {
  kill: () => Promise<void>
  up: () => Promise<void>
  /** Annotations and `spec.config` that make a Broker one of this class. */
  annotations: Record<string, string>
  config: Record<string, string>
}

const names = ['queues', 'exchanges', 'bindings', 'policies', 'rabbitmqclusters'].map(kind => `${kind}.rabbitmq.com`)

/**
 * What the cluster operator would make for a server of its own: a RabbitmqCluster with user, Service and address in its status. Any
 * namespace may refer to it.
 */
const references = (node: string, password: string): object[] => {
  const ports = [
    { name: 'amqp', port: 5672 },
    { name: 'management', port: 15_672 }
  ]
  const metadata = { name: 'rabbitmq', namespace: home }
  return [
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports } },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'rabbitmq-1', namespace: home, labels: { 'kubernetes.io/service-name': 'rabbitmq' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: [node], conditions: { ready: true } }],
      ports
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'rabbitmq-user', namespace: home },
      stringData: { username: 'knative', password }
    },
    {
      apiVersion: 'rabbitmq.com/v1beta1',
      kind: 'RabbitmqCluster',
      metadata: { ...metadata, annotations: { 'rabbitmq.com/topology-allowed-namespaces': '*' } }
    },
    {
      apiVersion: 'eventing.knative.dev/v1alpha1',
      kind: 'RabbitmqBrokerConfig',
      metadata: { name: 'quorum', namespace: home },
      spec: { queueType: 'quorum', rabbitmqClusterReference: metadata }
    }
  ]
}

const status = {
  conditions: [],
  binding: { name: 'rabbitmq-user' },
  defaultUser: {
    secretReference: { name: 'rabbitmq-user', namespace: home, keys: { username: 'username', password: 'password' } },
    serviceReference: { name: 'rabbitmq', namespace: home }
  }
}

export async function installRabbitMq(cluster: Cluster): Promise<RabbitMq> {
  const started = Date.now()
  const call = async (command: string) => {
    const env = { ...process.env, DIR: cluster.folder }
    return (await run(join(import.meta.dirname, 'rabbitmq.sh'), [command], { env })).stdout
  }
  const serving = call('up')
  const manifests = join(knativeFolder, 'manifests')
  await apply(cluster, join(manifests, 'rabbitmq-crds.yaml'))
  const crds = ['rabbitmqbrokerconfigs.eventing.knative.dev', ...names]
  await cluster.kubectl(['wait', '--for=condition=Established', '--timeout=120s', 'crd', ...crds])
  await apply(cluster, join(manifests, 'rabbitmq.yaml'))
  await serving
  for (const namespace of [home, 'knative-eventing'])
    await cluster.kubectl(['wait', '--for=condition=Available', '--timeout=600s', '-n', namespace, 'deployment', '--all'])
  const objects = references(cluster.node, (await call('password')).trim())
  const text = objects.map(object => JSON.stringify(object)).join('\n---\n')
  // the webhook may still be waiting for its certificate
  await eventually(
    'the webhook of the broker class',
    () =>
      cluster.kubectl(['apply', '-f', '-'], text).then(
        () => true,
        () => undefined
      ),
    300_000
  )
  const patch = `patch rabbitmqcluster rabbitmq -n ${home} --subresource=status --type=merge -p`.split(' ')
  await cluster.kubectl([...patch, JSON.stringify({ status })])
  say(`the broker class RabbitMQBroker is ready after ${Math.round((Date.now() - started) / 1000)} s`)
  return {
    kill: async () => void (await call('kill')),
    up: async () => void (await call('up')),
    annotations: { 'eventing.knative.dev/broker.class': 'RabbitMQBroker' },
    config: { apiVersion: 'eventing.knative.dev/v1alpha1', kind: 'RabbitmqBrokerConfig', name: 'quorum', namespace: home }
  }
}
