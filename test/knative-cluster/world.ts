// What the parts of the suite share: the cluster with Drover on it, and the addresses under which this machine reaches what is in it.
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { request as http, type Dispatcher } from 'undici'
import type { Test } from 'tap'
import { connect, type Kube } from '../../shared/kube/index.ts'
import { eventually } from '../servers/eventually.ts'
import type { Cluster } from '../servers/knative.ts'
import { request } from '../servers/request.ts'
import { inMemoryClass, serviceAddress, type BrokerClass } from './broker-class.ts'

export interface World {
  cluster: Cluster
  admin: Kube
  /** Of the in-memory broker class; `/NAMESPACE/BROKER` follows. */
  ingress: string
  /** Envoy, which leads to functions by their host name. */
  gateway: string
  /** Of Drover's own Broker, and where it is. */
  class: BrokerClass
  broker: string
  /** In the names of what one pass of the suite makes. */
  tag: string
}

export interface Conditioned {
  metadata: { name: string; namespace: string; generation?: number; annotations?: Record<string, string> }
  spec: Record<string, any>
  status?: { conditions?: Array<{ type: string; status: string; reason?: string; message?: string }>; [field: string]: any }
}

/** On a busy machine a pod may take its time; nothing here is about how long. */
export const patience = 300_000

export async function enter(t: Pick<Test, 'teardown'>, cluster: Cluster): Promise<World> {
  const admin = await connect({ manager: 'test', kubeconfig: cluster.kubeconfig, timeoutMs: 60_000 })
  t.teardown(() => admin.close())
  const ingress = `http://${await serviceAddress(cluster, 'knative-eventing', 'broker-ingress')}`
  return {
    cluster,
    admin,
    ingress,
    gateway: `http://${await serviceAddress(cluster, 'kourier-system', 'kourier-internal')}`,
    class: inMemoryClass,
    broker: `${ingress}/drover/default`,
    tag: `hv-${randomUUID().slice(0, 6)}`
  }
}

export async function listed<T = Conditioned>(cluster: Cluster, path: string): Promise<T[]> {
  const { status, body } = await request<{ items: T[] }>(cluster, 'GET', path)
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
  return body.items
}

/** What it says of its newest specification; where a kind does not say of which, of any. */
const isReady = ({ metadata: { generation }, status }: Conditioned): boolean =>
  (status?.['observedGeneration'] ?? generation) === generation &&
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

/** A namespace that nobody waits to see deleted: the cluster ends with the suite, and a cluster that is used again has others. */
export async function freshNamespace(world: World, about: string): Promise<string> {
  const name = `${about}-${randomUUID().slice(0, 6)}`
  await apply(world, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  return name
}

/** Where a webhook of a test is reached by this API server. */
export async function hookPlace({ host, webhookCert, webhookKey, ca }: Cluster) {
  const read = (file: string) => readFile(file, 'utf8')
  return { host, certificate: await read(webhookCert), key: await read(webhookKey), ca: await read(ca) }
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
  { host, headers = {}, dispatcher }: { host?: string; headers?: Record<string, string>; dispatcher?: Dispatcher } = {}
): Promise<Sent> {
  const all = { specversion: '1.0', id: randomUUID(), source: '/test', ...attributes }
  const ce = Object.fromEntries(Object.entries(all).map(([name, value]) => [`ce-${name}`, value]))
  const started = performance.now()
  const answer = await http(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...ce, ...(host !== undefined && { host }), ...headers },
    body: JSON.stringify(data),
    headersTimeout: patience,
    ...(dispatcher && { dispatcher })
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

/** Lines of a function's log, of all its pods, that hold a text. */
export async function logged(world: World, fn: string, text: string): Promise<Array<Record<string, unknown>>> {
  const found: Array<Record<string, unknown>> = []
  for (const { metadata } of await podsOf(world, fn)) {
    const log = await world.cluster.kubectl(['logs', '-n', 'drover', metadata.name, '-c', 'function']).catch(() => '') // just gone
    found.push(...log.split('\n').flatMap(line => (line.includes(text) ? [JSON.parse(line) as Record<string, unknown>] : [])))
  }
  return found
}
