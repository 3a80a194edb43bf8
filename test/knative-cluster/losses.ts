// The broker's own parts are killed under load: what is lost, in either class.
import type { Test } from 'tap'
import { eventually } from '../servers/eventually.ts'
import type { RabbitMq } from '../servers/knative/rabbitmq.ts'
import { brokerFor, type Made } from './broker.ts'
import { counter, flood, type Counter } from './flood.ts'
import { listed, type Pod, type World } from './world.ts'

const delivery = { retry: 5, backoffPolicy: 'exponential', backoffDelay: 'PT0.2S', timeout: 'PT20S' }

/** A Broker whose events all go to a counter. */
const counted = (t: Test, world: World, { url }: Counter): Promise<Made> =>
  brokerFor(t, world, 'flood', { t: { subscriber: { uri: url }, delivery } })

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
  const made = async () => {
    const sink = await counter(t, world)
    return { sink, ...(await counted(t, world, sink)) }
  }
  const [first, second] = [await made(), await made()] // both before the first kill: no new Trigger is served for a minute after it
  const kills: Record<number, string> = { 300: '/ko-app/channel_dispatcher', 600: '/ko-app/filter' }
  const before = (event: number) => (kills[event] === undefined ? undefined : killIn(world, 'knative-eventing', kills[event]))
  for (const { again, sink, url } of [
    { again: true, ...first },
    { again: false, ...second }
  ]) {
    const { refused, sent } = await flood(url, { events, again, before })
    const { lost, doubled } = await sink.settled(events - (again ? 0 : refused))
    t.comment(
      `in memory, sender ${again ? 'sends again' : 'sends once'}: ${refused} refused, ${sent} sent, ${lost} lost, ${doubled} doubled`
    )
    if (again) t.equal(lost, 0, 'nothing is lost that the sender keeps until it is taken')
    else t.ok(lost <= 0, 'and what was taken was delivered')
  }
}

/** The class that stores first: RabbitMQ itself, a dispatcher and an ingress are killed. */
export async function durable(t: Test, world: World, rabbit: RabbitMq): Promise<void> {
  const events = 5000
  const sink = await counter(t, world)
  const { namespace, url } = await counted(t, world, sink)
  const kills: Record<number, () => Promise<void>> = {
    1000: () => killIn(world, namespace, '/ko-app/dispatcher'),
    2500: async () => {
      await rabbit.kill()
      await rabbit.up()
    },
    4000: () => killIn(world, namespace, '/ko-app/ingress')
  }
  const { refused, sent } = await flood(url, { events, inFlight: 20, before: event => kills[event]?.() })
  const { lost, doubled } = await sink.settled(events)
  t.comment(`RabbitMQBroker: ${refused} refused, ${sent} sent, ${lost} lost, ${doubled} doubled`)
  t.equal(lost, 0)
}
