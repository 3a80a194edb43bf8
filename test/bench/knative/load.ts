// A thousand events a second into the real broker, from a hundred agents to one function. Each agent sends one at a time, as a spool does, and
// again what was not taken. An event counts from the moment at which it was due, so that a queue before the broker is seen, until the function
// wrote that it had handled it.
import type { Test } from 'tap'
import { Agent } from 'undici'
import { brokerFor } from '../../knative-cluster/broker.ts'
import { podsOf, post, type World } from '../../knative-cluster/world.ts'
import { busiest, cpuByProgram, residentMib } from '../lib/processes.ts'
import { followRecords } from './records.ts'

const agents = 100
// of no interest to the function, which says so without a look at the cluster: broker and runtime are measured, not the API server
const type = 'sap.cloud.kvm.hypervisor.changed.v1'

export interface Load {
  /** Events a second that the agents have to send. */
  rate: number
  seconds: number
}

export interface Carried {
  /** Events that the function never handled. */
  lost: number
  /** Events that it handled more than once. */
  duplicates: number
  /** Sent again, since the broker did not take them. */
  again: number
  /** Handled a second, from the first that was due to the last. */
  rate: number
  /** Milliseconds from due to handled, of each event. */
  times: number[]
  /** MiB of the function's processes, while events came. */
  memory: number[]
  /** Looks at these that failed. */
  looksFailed: number
  /** Programs by their part of a core. */
  busiest: Array<[string, number]>
}

async function residents(world: World): Promise<number[]> {
  const found: number[] = []
  for (const { metadata } of await podsOf(world, 'hypervisor'))
    for (const pid of await world.cluster.processes('/bin/node', metadata.uid)) found.push(await residentMib(pid))
  return found
}

/** A Broker whose events of that type come to the function, with one way to send to it. */
export async function loaded(t: Test, world: World): Promise<(load: Load) => Promise<Carried>> {
  const ref = { apiVersion: 'serving.knative.dev/v1', kind: 'Service', name: 'hypervisor', namespace: 'drover' }
  const delivery = { retry: 3, backoffPolicy: 'exponential', backoffDelay: 'PT0.5S', timeout: 'PT20S' }
  const { url } = await brokerFor(t, world, 'load', { t: { filter: { attributes: { type } }, subscriber: { ref }, delivery } })
  const dispatcher = new Agent({ connections: agents })
  t.teardown(() => dispatcher.close())
  let runs = 0
  return async ({ rate, seconds }) => {
    const prefix = `load-${++runs}-`
    const records = await followRecords(t, world, 'hypervisor', prefix)
    let again = 0
    const send = async (name: string, id: string): Promise<void> => {
      const data = { apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor', name }
      const attributes = { type, id, changed: 'annotations' }
      while ((await post(url, attributes, data, { dispatcher }).catch(() => undefined))?.status !== 202) again += 1
    }
    await send('first', `first-${runs}`) // wakes it
    again = 0
    const memory: number[] = []
    let looksFailed = 0
    const look = async (): Promise<void> => {
      await records.look()
      memory.push(...(await residents(world)))
    }
    await look()
    const cpuBefore = await cpuByProgram()
    const looks = setInterval(() => void look().catch(() => looksFailed++), 1000) // a process may end while it is looked at
    const due = new Map<string, number>()
    const startedMs = Date.now()
    const agent = async (_: unknown, nth: number): Promise<void> => {
      for (let n = nth; n < rate * seconds; n += agents) {
        const dueMs = startedMs + (n * 1000) / rate
        due.set(`${prefix}${n}`, dueMs)
        const wait = dueMs - Date.now()
        if (wait > 0) await new Promise(resolve => setTimeout(resolve, wait))
        await send(`host-${nth}`, `${prefix}${n}`)
      }
    }
    await Promise.all(Array.from({ length: agents }, agent)).finally(() => clearInterval(looks))
    const busy = busiest(cpuBefore, await cpuByProgram(), (Date.now() - startedMs) / 1000)
    await records.look()
    const handled = await records.settled(due.size)
    const firsts = [...handled].map(([id, times]) => ({ dueMs: due.get(id) ?? Number.NaN, atMs: Math.min(...times) }))
    const lastMs = firsts.reduce((last, { atMs }) => Math.max(last, atMs), startedMs)
    return {
      lost: due.size - handled.size,
      duplicates: [...handled.values()].filter(times => times.length > 1).length,
      again,
      rate: handled.size / ((lastMs - startedMs) / 1000),
      times: firsts.map(({ dueMs, atMs }) => atMs - dueMs),
      memory,
      looksFailed,
      busiest: busy
    }
  }
}
