// A thousand events a second into the real broker, from a hundred agents to one function. Each agent sends one at a time, as a spool does, and
// again what was not taken; an event counts from the moment at which it was due, so that a queue before the broker is seen.
import type { Test } from 'tap'
import { Agent } from 'undici'
import { brokerFor } from '../../knative-cluster/broker.ts'
import { podsOf, post, type World } from '../../knative-cluster/world.ts'
import { percentile } from './percentile.ts'
import { megabytes } from './processes.ts'

const rate = Number(process.env['EVENTS_A_SECOND'] ?? 1000)
const seconds = Number(process.env['SECONDS'] ?? 60)
const agents = 100
// of no interest to the function, which says so without a look at the cluster: broker and runtime are measured, not the API server
const type = 'sap.cloud.kvm.hypervisor.changed.v1'

export interface Carried {
  lost: number
  /** Delivered a second. */
  rate: number
  p50: number
  p99: number
  /** Of the function's process, in megabytes. */
  memory: number
}

/** What the pods of the function say they took. */
async function taken(world: World): Promise<number> {
  let sum = 0
  for (const { status } of await podsOf(world, 'hypervisor')) {
    const figures = await (await fetch(`http://${status.podIP}:8080/metrics`)).text()
    const counts = figures.matchAll(new RegExp(`^drover_events_total\\{[^}]*type="${type}"[^}]*\\} (\\d+)`, 'gm'))
    for (const [, count] of counts) sum += Number(count)
  }
  return sum
}

export async function load(t: Test, world: World): Promise<Carried> {
  const ref = { apiVersion: 'serving.knative.dev/v1', kind: 'Service', name: 'hypervisor', namespace: 'drover' }
  const delivery = { retry: 3, backoffPolicy: 'exponential', backoffDelay: 'PT0.5S', timeout: 'PT20S' }
  const { url } = await brokerFor(t, world, 'load', { t: { filter: { attributes: { type } }, subscriber: { ref }, delivery } })
  const dispatcher = new Agent({ connections: agents })
  const send = async (name: string, id: string): Promise<void> => {
    const data = { apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor', name }
    const attributes = { type, id, changed: 'annotations' }
    while ((await post(url, attributes, data, { dispatcher }).catch(() => undefined))?.status !== 202);
  }
  await send('first', 'first') // wakes it
  const before = await taken(world)
  const times: number[] = []
  const started = performance.now()
  const agent = async (_: unknown, nth: number): Promise<void> => {
    for (let n = nth; n < rate * seconds; n += agents) {
      const due = started + (n * 1000) / rate
      const wait = due - performance.now()
      if (wait > 0) await new Promise(resolve => setTimeout(resolve, wait))
      await send(`host-${nth}`, String(n))
      times.push(performance.now() - due)
    }
  }
  await Promise.all(Array.from({ length: agents }, agent))
  const took = (performance.now() - started) / 1000
  const held: number[] = []
  for (const { metadata } of await podsOf(world, 'hypervisor'))
    for (const pid of await world.cluster.processes('/bin/node', metadata.uid)) held.push(await megabytes(pid))
  const lost = Math.max(0, rate * seconds - ((await taken(world)) - before))
  await dispatcher.close()
  return { lost, rate: times.length / took, p50: percentile(times, 50), p99: percentile(times, 99), memory: Math.max(...held) }
}
