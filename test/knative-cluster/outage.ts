// The broker's ingress is away: the agent keeps what it has to tell on disk, and tells it in order when the broker is back.
import { setTimeout as sleep } from 'node:timers/promises'
import { procedures as p } from 'node-libvirt'
import type { Test } from 'tap'
import type { Received } from '../local/broker/sinks.ts'
import { create } from '../node-libvirt/real.ts'
import { eventually } from '../servers/eventually.ts'
import { startHypervisorAgent, type Lab } from './agents.ts'
import { brokerFor, clusterSink } from './broker.ts'
import { becomesHypervisor } from './hosts.ts'
import { patience, post, type World } from './world.ts'

/** OUTAGE_SECONDS=600 is the whole of it (knative/README.md): ten minutes in which nothing else could be tested, so by hand. */
const seconds = Number(process.env['OUTAGE_SECONDS'] ?? 15)

const typeOf = ({ headers }: Received): string => String(headers['ce-type'])

export async function sinkAway(t: Test, world: World, lab: Lab): Promise<void> {
  const { cluster } = world
  const sink = await clusterSink(t, world)
  const { url } = await brokerFor(t, world, 'away', { all: { subscriber: { uri: sink.url } } })
  const domain = await create(lab.virt, 'restless')
  const agent = await startHypervisorAgent(t, world, lab, url)
  await eventually('the first report', async () => sink.received.some(one => typeOf(one).includes('instances')), patience)

  const replicas = (n: number) =>
    cluster.kubectl(['scale', 'deployment/mt-broker-ingress', '-n', 'knative-eventing', `--replicas=${n}`])
  t.teardown(() => replicas(1))
  await replicas(0)
  const now = ['--force', '--grace-period=0'] // it would serve for the rest of a minute
  await cluster.kubectl(['delete', 'pod', '-n', 'knative-eventing', '-l', 'eventing.knative.dev/brokerRole=ingress', ...now])
  const answered = () =>
    post(url, { type: 'probe' }, {}).then(
      () => true,
      () => false
    )
  await eventually('nobody to answer', async () => !(await answered()), patience)
  const [before, until] = [sink.received.length, Date.now() + seconds * 1000]
  const host = becomesHypervisor(world, `${world.tag}-outage`, seconds * 1000 + patience)
  let changes = 0
  while (Date.now() < until) {
    for (const change of [p.domainSuspend, p.domainResume]) await lab.virt.call(change, { domain })
    changes += 2
    await sleep((seconds * 1000) / 100) // a hundred pairs, however long
  }
  t.equal(sink.received.length, before, 'nothing came through')
  const waiting = await eventually('all of them to be kept', async () => {
    const figures = await (await fetch(`${agent.url}/metrics`)).text()
    const found = Number(/^drover_spool_waiting (\d+)/m.exec(figures)?.[1])
    return found >= changes && found
  })
  t.comment(`${waiting} events wait after ${changes} changes in ${seconds} s`)
  await replicas(1)

  const changed = () => sink.received.filter(one => typeOf(one) === 'sap.cloud.kvm.domain.changed.v1')
  const once = () => new Map(changed().map(({ headers, body }) => [headers['ce-id'], JSON.parse(body.toString()) as Change]))
  const ofOutage = () => [...once().values()].filter(({ name, event }) => name === 'restless' && /suspended|resumed/.test(event))
  await eventually('all that was kept', async () => ofOutage().length >= changes, patience)
  const told = ofOutage().map(({ event }) => event)
  t.strictSame(
    told,
    Array.from({ length: changes }, (_, n) => (n % 2 === 0 ? 'suspended' : 'resumed')),
    'each once, in order'
  )
  t.comment(`Node → Hypervisor across the outage: ${(await host).toFixed(0)} ms`)
}

interface Change {
  name: string
  event: string
}
