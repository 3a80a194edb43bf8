// Where events are sent to, as far as it can be reached from here.
import { ConfigMap, KubeError, type Kube } from '../kube/index.ts'
import type { Kind, KubeObject } from '../schema/kind.ts'
import { Trouble } from './cluster.ts'

interface Broker extends KubeObject {
  metadata: { name: string; namespace?: string }
  status?: { address?: { url?: string } }
}
const Broker: Kind<Broker> = {
  group: 'eventing.knative.dev',
  version: 'v1',
  kind: 'Broker',
  plural: 'brokers',
  namespaced: true
}

/** What `npm start` says of itself on its embedded API. */
export async function localPlatform(kube: Kube): Promise<Record<string, string> | undefined> {
  try {
    return (await kube.find(ConfigMap, 'drover-local', 'drover'))?.data
  } catch (err) {
    if (err instanceof KubeError && err.code === 'Forbidden') return undefined
    throw err
  }
}

export async function brokerAddress(kube: Kube, namespace: string): Promise<string> {
  const local = (await localPlatform(kube))?.['broker']
  if (local !== undefined) return local
  const broker = await kube.find(Broker, 'default', namespace)
  const url = broker?.status?.address?.url
  if (url === undefined)
    throw new Trouble(
      `the Broker default in ${namespace} has no address; \`drover doctor\` tells why, or name one with --broker URL`
    )
  return url
}

/** One CloudEvent, in its JSON format. */
export async function send(url: string, event: string): Promise<void> {
  let answer: Response
  try {
    const headers = { 'content-type': 'application/cloudevents+json' }
    answer = await fetch(url, { method: 'POST', headers, body: event, signal: AbortSignal.timeout(30_000) })
  } catch (err) {
    throw new Trouble(`${url} does not answer: ${causeOf(err)}${unreachable(url)}`)
  }
  if (!answer.ok) throw new Trouble(`${url} answered ${answer.status}: ${(await answer.text()).slice(0, 200)}`)
}

const causeOf = (err: unknown): string => {
  const { message, cause } = err as Error
  return cause instanceof Error ? cause.message || cause.name : message
}

/** An address of the inside of a cluster can be had here by a tunnel. */
function unreachable(url: string): string {
  const { hostname, pathname } = new URL(url)
  const [name, namespace, svc] = hostname.split('.')
  if (svc !== 'svc') return ''
  return `; it is reached from inside the cluster: \`kubectl -n ${namespace} port-forward svc/${name} 8080:80\`, then --broker http://127.0.0.1:8080${pathname}`
}
