// A thousand events a second into the real broker, paced, to one function. The in-memory class answers its sender when the function has
// answered, so that the time of the request is the time from end to end.
import { allReady, apply, freshNamespace, podsOf, post, type World } from '../../knative-cluster/world.ts'
import { megabytes } from './processes.ts'
import { percentile } from './percentile.ts'

const rate = Number(process.env['EVENTS_A_SECOND'] ?? 1000)
const seconds = Number(process.env['SECONDS'] ?? 60)
const eventing = 'eventing.knative.dev/v1'

export interface Carried {
  lost: number
  /** Delivered a second. */
  rate: number
  p99: number
  /** Of the function's process. */
  memory: number
}

export async function load(world: World): Promise<Carried> {
  const namespace = await freshNamespace(world, 'load')
  const ref = { apiVersion: 'serving.knative.dev/v1', kind: 'Service', name: 'hypervisor', namespace: 'drover' }
  const delivery = { retry: 3, backoffPolicy: 'exponential', backoffDelay: 'PT0.5S', timeout: 'PT20S' }
  const filter = { attributes: { type: 'io.k8s.node.changed.v1' } }
  await apply(
    world,
    { apiVersion: eventing, kind: 'Broker', metadata: { name: 'b', namespace } },
    {
      apiVersion: eventing,
      kind: 'Trigger',
      metadata: { name: 't', namespace },
      spec: { broker: 'b', filter, subscriber: { ref }, delivery }
    }
  )
  for (const kind of ['brokers', 'triggers']) await allReady(world.cluster, `/apis/${eventing}/namespaces/${namespace}/${kind}`)

  const times: number[] = []
  let lost = 0
  // of no interest to the function, which says so without a look at the cluster: the broker and the runtime are measured, not the API server
  const one = async (): Promise<void> => {
    const data = { apiVersion: 'v1', kind: 'Node', name: 'nobody' }
    const sent = await post(`${world.ingress}/${namespace}/b`, { type: 'io.k8s.node.changed.v1', changed: 'status' }, data).catch(
      () => undefined
    )
    if (sent?.status === 202) times.push(sent.ms)
    else lost += 1
  }
  await one() // wakes it
  const started = performance.now()
  const pending: Array<Promise<void>> = []
  for (let n = 0; n < rate * seconds; n++) {
    const due = started + (n * 1000) / rate
    const wait = due - performance.now()
    if (wait > 1) await new Promise(resolve => setTimeout(resolve, wait))
    pending.push(one())
  }
  await Promise.all(pending)
  const took = (performance.now() - started) / 1000
  const held: number[] = []
  for (const { metadata } of await podsOf(world, 'hypervisor'))
    for (const pid of await world.cluster.processes('/bin/node', metadata.uid)) held.push(await megabytes(pid))
  return { lost, rate: times.length / took, p99: percentile(times, 99), memory: Math.max(...held) }
}
