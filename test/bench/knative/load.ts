// A thousand events a second into the real broker, from a hundred agents to one function. Each agent sends one at a time, as a spool does, and
// again what was not taken; an event counts from the moment at which it was due, so that a queue before the broker is seen.
import type { Test } from 'tap'
import { Agent } from 'undici'
import { brokerFor } from '../../knative-cluster/broker.ts'
import { podsOf, post, type World } from '../../knative-cluster/world.ts'
import { percentile } from './percentile.ts'
import { busiest, cpuByProgram, megabytes } from './processes.ts'

const agents = 100
// of no interest to the function, which says so without a look at the cluster: broker and runtime are measured, not the API server
const type = 'sap.cloud.kvm.hypervisor.changed.v1'

export interface Load {
  /** Events a second that the agents have to tell. */
  rate: number
  seconds: number
}

export interface Carried {
  /** At most: each event that was sent again is counted as if only its second try had arrived. */
  lost: number
  /** Sent again, since the broker did not take them. */
  again: number
  /** Delivered a second. */
  rate: number
  p50: number
  p99: number
  /** Of the function's largest process, in megabytes. */
  memory: number
  /** Programs by their part of a core. */
  busiest: Array<[string, number]>
}

/** What each pod of the function says it took: kept by pod, since the autoscaler may end one while events still come. */
function tallied(world: World) {
  const byPod = new Map<string, number>()
  const held = new Map<string, number>()
  return {
    async look(): Promise<void> {
      for (const { metadata, status } of await podsOf(world, 'hypervisor')) {
        const figures = await fetch(`http://${status.podIP}:8080/metrics`).then(
          answer => answer.text(),
          () => undefined
        )
        if (figures === undefined) continue // not up yet, or gone
        const counts = figures.matchAll(new RegExp(`^drover_events_total\\{[^}]*type="${type}"[^}]*\\} (\\d+)`, 'gm'))
        byPod.set(
          metadata.uid,
          [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
        )
        for (const pid of await world.cluster.processes('/bin/node', metadata.uid))
          held.set(metadata.uid, Math.max(held.get(metadata.uid) ?? 0, await megabytes(pid).catch(() => 0)))
      }
    },
    taken: () => [...byPod.values()].reduce((sum, count) => sum + count, 0),
    memory: () => Math.max(...held.values())
  }
}

/** A Broker whose events of that type come to the function, with one way to send to it. */
export async function loaded(t: Test, world: World): Promise<(load: Load) => Promise<Carried>> {
  const ref = { apiVersion: 'serving.knative.dev/v1', kind: 'Service', name: 'hypervisor', namespace: 'drover' }
  const delivery = { retry: 3, backoffPolicy: 'exponential', backoffDelay: 'PT0.5S', timeout: 'PT20S' }
  const { url } = await brokerFor(t, world, 'load', { t: { filter: { attributes: { type } }, subscriber: { ref }, delivery } })
  const dispatcher = new Agent({ connections: agents })
  t.teardown(() => dispatcher.close())
  let again = 0
  const send = async (name: string, id: string): Promise<void> => {
    const data = { apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor', name }
    const attributes = { type, id, changed: 'annotations' }
    while ((await post(url, attributes, data, { dispatcher }).catch(() => undefined))?.status !== 202) again += 1
  }
  return async ({ rate, seconds }) => {
    await send('first', 'first') // wakes it
    again = 0
    const tally = tallied(world)
    await tally.look()
    const [before, cpuBefore] = [tally.taken(), await cpuByProgram()]
    const looks = setInterval(() => void tally.look().catch(() => {}), 2000) // the last look, below, is the one that may fail
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
    await Promise.all(Array.from({ length: agents }, agent)).finally(() => clearInterval(looks))
    const took = (performance.now() - started) / 1000
    const busy = busiest(cpuBefore, await cpuByProgram(), took)
    await tally.look()
    return {
      lost: Math.max(0, rate * seconds + again - (tally.taken() - before)),
      again,
      rate: times.length / took,
      p50: percentile(times, 50),
      p99: percentile(times, 99),
      memory: tally.memory(),
      busiest: busy
    }
  }
}
