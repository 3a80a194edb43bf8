// The broker's own parts are killed under load: what is lost, in either class.
import type { Test } from 'tap'
import { clusterAgent } from '../../agents/cluster/agent.ts'
import { startAgent } from '../../shared/runtime/agent.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { eventually } from '../servers/eventually.ts'
import { installRabbitMq, type RabbitMq } from '../servers/knative/rabbitmq.ts'
import { counter, flood } from './flood.ts'
import { becomesHypervisor } from './hosts.ts'
import { allReady, apply, freshNamespace, listed, serviceAddress, type Pod, type World } from './world.ts'

const eventing = 'eventing.knative.dev/v1'
const delivery = { retry: 5, backoffPolicy: 'exponential', backoffDelay: 'PT0.2S', timeout: 'PT20S' }

async function brokerTo(world: World, namespace: string, subscriber: object, rabbit?: RabbitMq): Promise<void> {
  await freshNamespace(world, namespace)
  const metadata = { name: 'b', namespace, ...(rabbit && { annotations: rabbit.annotations }) }
  const parallel = rabbit && { annotations: { 'rabbitmq.eventing.knative.dev/parallelism': '50' } }
  await apply(
    world,
    { apiVersion: eventing, kind: 'Broker', metadata, ...(rabbit && { spec: { config: rabbit.config } }) },
    {
      apiVersion: eventing,
      kind: 'Trigger',
      metadata: { name: 't', namespace, ...parallel },
      spec: { broker: 'b', subscriber, delivery }
    }
  )
  for (const kind of ['brokers', 'triggers']) await allReady(world.cluster, `/apis/${eventing}/namespaces/${namespace}/${kind}`)
}

/** SIGKILL to a program in the pods of a namespace: once, to those that run when one is found. */
async function killIn({ cluster }: World, namespace: string, program: string): Promise<void> {
  await eventually(`${program} to kill`, async () => {
    const pods = await listed<Pod>(cluster, `/api/v1/namespaces/${namespace}/pods`)
    const pids = await Promise.all(pods.map(({ metadata }) => cluster.processes(program, metadata.uid)))
    return pids.flat().filter(ended).length > 0
  })
}

/** False when it had ended by itself. */
function ended(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw err
  }
}

/** The in-memory class keeps nothing, and tells its sender so: what a sender keeps until it is taken is not lost. */
export async function inMemory(t: Test, world: World): Promise<void> {
  const events = 1000
  for (const again of [true, false]) {
    const namespace = again ? 'flood-again' : 'flood-once'
    const sink = await counter(t, world)
    await brokerTo(world, namespace, { uri: sink.url })
    const kills: Record<number, string> = { 300: '/ko-app/channel_dispatcher', 600: '/ko-app/filter' }
    const before = (event: number) => (kills[event] === undefined ? undefined : killIn(world, 'knative-eventing', kills[event]))
    const { refused, sent } = await flood(`${world.ingress}/${namespace}/b`, { events, again, before })
    const { lost, doubled } = await sink.settled(events - (again ? 0 : refused))
    t.comment(
      `in memory, sender ${again ? 'sends again' : 'sends once'}: ${refused} refused, ${sent} sent, ${lost} lost, ${doubled} doubled`
    )
    if (again) t.equal(lost, 0, 'nothing is lost that the sender keeps until it is taken')
    else t.ok(lost <= 0, 'and what was taken was delivered')
  }
}

export async function rabbitMq(t: Test, world: World): Promise<void> {
  const { cluster } = world
  const rabbit = await installRabbitMq(cluster)

  await t.test('Node → cluster agent → RabbitMQBroker → function → Hypervisor', async t => {
    const service = { apiVersion: 'serving.knative.dev/v1', kind: 'Service', name: 'hypervisor', namespace: 'drover' }
    await brokerTo(world, 'rabbit-hosts', { ref: service }, rabbit)
    const sink = `http://${await serviceAddress(cluster, 'rabbit-hosts', 'b-broker-ingress')}/`
    await cluster.kubectl(['scale', 'deployment/cluster-agent', '-n', 'drover', '--replicas=0'])
    const env = {
      KUBECONFIG: cluster.kubeconfig,
      K_SINK: sink,
      WATCH_MACHINES: 'false',
      LOG_LEVEL: 'silent',
      PORT: '0',
      HOST: '127.0.0.1'
    }
    const agent = await startAgent(clusterAgent, { env })
    t.teardown(() => agent.close())
    t.comment(`Node → Hypervisor: ${(await becomesHypervisor(world, 'hv-rabbit')).toFixed(0)} ms`)
    t.match((await world.admin.find(Hypervisor, 'hv-rabbit'))?.status?.conditions, [{ type: 'Ready' }])
    await cluster.kubectl(['scale', 'deployment/cluster-agent', '-n', 'drover', '--replicas=2'])
  })

  await t.test('5,000 events, and RabbitMQ, a dispatcher and an ingress are killed among them', async t => {
    const events = 5000
    const sink = await counter(t, world)
    await brokerTo(world, 'rabbit-flood', { uri: sink.url }, rabbit)
    const url = `http://${await serviceAddress(cluster, 'rabbit-flood', 'b-broker-ingress')}/`
    const kills: Record<number, () => Promise<void>> = {
      1000: () => killIn(world, 'rabbit-flood', '/ko-app/dispatcher'),
      2500: async () => {
        await rabbit.kill()
        await rabbit.up()
      },
      4000: () => killIn(world, 'rabbit-flood', '/ko-app/ingress')
    }
    const { refused, sent } = await flood(url, { events, inFlight: 20, before: event => kills[event]?.() })
    const { lost, doubled } = await sink.settled(events)
    t.comment(`RabbitMQBroker: ${refused} refused, ${sent} sent, ${lost} lost, ${doubled} doubled`)
    t.equal(lost, 0)
  })
}
