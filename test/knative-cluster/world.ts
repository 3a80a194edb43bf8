// What the parts of the suite share: the cluster with Drover on it, and the addresses under which this machine reaches what is in it.
import { randomUUID } from 'node:crypto'
import { request as http } from 'undici'
import type { Test } from 'tap'
import { connect, type Kube } from '../../shared/kube/index.ts'
import { eventually } from '../servers/eventually.ts'
import type { Cluster } from '../servers/knative.ts'
import { request } from '../servers/request.ts'

export interface World {
  cluster: Cluster
  admin: Kube
  /** Of the in-memory broker class; `/NAMESPACE/BROKER` follows. */
  ingress: string
  /** Envoy, which leads to functions by their host name. */
  gateway: string
}

export interface Conditioned {
  metadata: { name: string; namespace: string; annotations?: Record<string, string> }
  spec: Record<string, any>
  status?: { conditions?: Array<{ type: string; status: string; reason?: string; message?: string }>; [field: string]: any }
}

/** On a busy machine a pod may take its time; nothing here is about how long. */
export const patience = 300_000

export async function enter(t: Pick<Test, 'teardown'>, cluster: Cluster): Promise<World> {
  const admin = await connect({ manager: 'test', kubeconfig: cluster.kubeconfig, timeoutMs: 60_000 })
  t.teardown(() => admin.close())
  return {
    cluster,
    admin,
    ingress: `http://${await serviceAddress(cluster, 'knative-eventing', 'broker-ingress')}`,
    gateway: `http://${await serviceAddress(cluster, 'kourier-system', 'kourier-internal')}`
  }
}

export async function serviceAddress(cluster: Cluster, namespace: string, name: string): Promise<string> {
  const { body } = await request<Conditioned>(cluster, 'GET', `/api/v1/namespaces/${namespace}/services/${name}`)
  return String(body.spec['clusterIP'])
}

export async function listed<T = Conditioned>(cluster: Cluster, path: string): Promise<T[]> {
  const { status, body } = await request<{ items: T[] }>(cluster, 'GET', path)
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
  return body.items
}

const isReady = ({ status }: Conditioned): boolean =>
  status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true

/** All of the list; when they do not become so, the error says who and why. */
export async function allReady(cluster: Cluster, path: string, within = patience): Promise<Conditioned[]> {
  let late: Conditioned[] = []
  const look = async (): Promise<Conditioned[] | undefined> => {
    const all = await listed(cluster, path)
    late = all.filter(one => !isReady(one))
    if (all.length > 0 && late.length === 0) return all
    await new Promise(resolve => setTimeout(resolve, 200)) // a long list: not a hundred times a second
    return undefined
  }
  try {
    return await eventually(`all of ${path} to be ready`, look, within)
  } catch (cause) {
    const why = late.map(({ metadata, status }) => `${metadata.name}: ${JSON.stringify(status?.conditions)}`)
    throw new Error(`not ready: ${why.join('\n')}`, { cause })
  }
}

export const apply = async ({ cluster }: World, ...objects: object[]): Promise<void> =>
  void (await cluster.kubectl(['apply', '-f', '-'], objects.map(object => JSON.stringify(object)).join('\n---\n')))

/** A namespace that nobody waits to see deleted: the cluster ends with the suite. */
export async function freshNamespace(world: World, name: string): Promise<string> {
  await apply(world, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  return name
}

export interface Sent {
  status: number
  body: string
  ms: number
}

/** A CloudEvent in binary mode; `host` names a function behind the gateway. */
export async function post(
  url: string,
  attributes: Record<string, string>,
  data: unknown,
  { host, headers = {} }: { host?: string; headers?: Record<string, string> } = {}
): Promise<Sent> {
  const all = { specversion: '1.0', id: randomUUID(), source: '/test', ...attributes }
  const ce = Object.fromEntries(Object.entries(all).map(([name, value]) => [`ce-${name}`, value]))
  const started = performance.now()
  const answer = await http(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...ce, ...(host !== undefined && { host }), ...headers },
    body: JSON.stringify(data),
    headersTimeout: patience
  })
  return { body: await answer.body.text(), status: answer.statusCode, ms: performance.now() - started }
}

/** As every sender does: again with the same id until it is taken, since this class keeps nothing and says so with 500. */
export async function deliver(url: string, attributes: Record<string, string>, data: unknown, headers = {}): Promise<void> {
  const id = randomUUID()
  await eventually(
    'the broker to take the event',
    async () => (await post(url, { id, ...attributes }, data, { headers })).status === 202,
    patience
  )
}

export const hostOf = (fn: string): string => `${fn}.drover.svc.cluster.local`

export interface Pod {
  metadata: { name: string; uid: string }
  status: { podIP?: string }
}

export const podsOf = ({ cluster }: World, fn: string): Promise<Pod[]> =>
  listed<Pod>(cluster, `/api/v1/namespaces/drover/pods?labelSelector=serving.knative.dev/service%3D${fn}`)
