// What differs between the broker classes for who sends to them and who installs them.
import type { Cluster } from '../servers/knative.ts'
import { request } from '../servers/request.ts'

export interface BrokerClass {
  /** Of a Broker: annotations and `spec.config`. */
  annotations?: Record<string, string>
  config?: Record<string, string>
  /** Of a Trigger. */
  triggerAnnotations?: Record<string, string>
  /** A sender is answered when the event is stored, not when all is done; and 4xx is dropped without a dead letter. */
  storesFirst: boolean
  /** Where this machine reaches a Broker. */
  address: (world: { cluster: Cluster; ingress: string }, namespace: string, broker: string) => Promise<string>
}

export const inMemoryClass: BrokerClass = {
  storesFirst: false,
  address: async ({ ingress }, namespace, broker) => `${ingress}/${namespace}/${broker}`
}

export const rabbitMqClass = (of: Pick<BrokerClass, 'annotations' | 'config'>): BrokerClass => ({
  ...of,
  triggerAnnotations: { 'rabbitmq.eventing.knative.dev/parallelism': '50' },
  storesFirst: true,
  address: async ({ cluster }, namespace, broker) =>
    `http://${await serviceAddress(cluster, namespace, `${broker}-broker-ingress`)}/`
})

export async function serviceAddress(cluster: Cluster, namespace: string, name: string): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/services/${name}`
  const { body } = await request<{ spec: { clusterIP: string } }>(cluster, 'GET', path)
  return body.spec.clusterIP
}
