// 500 faults a second on ten hosts: the function as it ships, in a process of its own with the memory of its manifest, on a real API server.
// An answer means written down; what is refused is sent again, as a broker would. The fleet is suspected, so that nobody is restarted.
import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import { domainCrashed } from '../../../shared/events/libvirt.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { closing } from '../evict/served.ts'
import { percentile } from '../knative/percentile.ts'
import { megabytes } from '../knative/processes.ts'
import { cpuSeconds } from '../lib/cpu.ts'
import { requestOf } from '../lib/press.ts'
import type { Report } from '../report.ts'
import { calm, plant, type Server } from './plant.ts'
import { sender } from './sender.ts'

const seconds = Number(process.env['STORM_SECONDS'] ?? 60)
const rate = 500
const offered = 510 // a little more than is to be reached: whoever is asked for 500 can only fall short of it
const hosts = Array.from({ length: 10 }, (_, n) => `hv${n}`)
const each = 50
const stepMs = 10

export const storm = (report: Report): Promise<void> =>
  closing(async given => {
    const t = given as Test
    const { admin, servers, sink, url, pid, containerConcurrency, served } = await plant(t, hosts, each, 'off')
    // what is more waits in front of the function
    const broker = await sender(Number(new URL(url).port), containerConcurrency)
    t.teardown(() => broker.close())
    let [sent, written, refused, resident] = [0, 0, 0, 0]
    const waits: number[] = []
    const tell = async (n: number): Promise<void> => {
      const from = performance.now()
      const request = faultOf(servers[n % servers.length]!, n)
      while ((await broker.send(request)) !== 204) {
        refused++
        await pause(200)
      }
      written++
      waits.push(performance.now() - from)
    }
    const used = (): number[] => [cpuSeconds(pid), served(), cpuSeconds(process.pid)]
    await calm(served)
    const before = used()
    const onTheWay = new Set<Promise<void>>()
    const began = performance.now()
    let lookedMs = 0
    while (sent < rate * seconds) {
      const now = performance.now() - began
      while (sent < Math.min((now / 1000) * offered, rate * seconds) && broker.free() > 0) {
        const told: Promise<void> = tell(sent++).finally(() => onTheWay.delete(told))
        onTheWay.add(told)
      }
      if (now - lookedMs > 500) {
        lookedMs = now
        resident = Math.max(resident, await megabytes(pid))
      }
      await pause(stepMs)
    }
    await Promise.all(onTheWay)
    const tookSeconds = (performance.now() - began) / 1000
    resident = Math.max(resident, await megabytes(pid))
    const after = used()
    const known = new Set<string>()
    for (const host of hosts)
      for (const { server } of (await admin.find(Hypervisor, host))?.status?.ha?.incidents ?? []) known.add(server)
    const restarted = servers.filter(({ actions }) => actions.length > 0).length
    report({
      name: 'reactions.storm.rate',
      ours: written / tookSeconds,
      goal: { atLeast: rate },
      unit: `faults/s of ${offered} offered, ${seconds} s`
    })
    report({ name: 'reactions.storm.written.p50', ours: percentile(waits, 50), unit: 'ms from the event to its answer' })
    report({ name: 'reactions.storm.written.p99', ours: percentile(waits, 99), unit: 'ms from the event to its answer' })
    report({
      name: 'reactions.storm.lost',
      ours: sent - written + (Math.min(sent, servers.length) - known.size),
      goal: { atMost: 0 },
      unit: `of ${sent} faults, and servers without an incident`
    })
    report({ name: 'reactions.storm.refused', ours: refused, unit: 'sent again by the broker' })
    report({ name: 'reactions.storm.restarted', ours: restarted, goal: { atMost: 0 }, unit: 'servers: it is the fleet (HA-15)' })
    report({ name: 'reactions.storm.resident', ours: resident, goal: { atMost: 128 }, unit: 'MB at most' })
    for (const [n, who] of ['function', 'control-plane', 'sender-and-nova'].entries())
      report({
        name: `reactions.storm.cpu.${who}`,
        ours: (((after[n] ?? 0) - (before[n] ?? 0)) / sent) * 1000,
        unit: 'ms of CPU for a fault'
      })
    report({ name: 'reactions.storm.told', ours: sink.taken(), unit: 'events of the trail' })
  })

function faultOf({ id, name, host }: Server, n: number): Buffer {
  const at = new Date().toISOString()
  const data = { host, at, bootId: 'boot-1', epoch: 1, server: id, name, event: 'stopped', detail: 'failed' }
  const headers = {
    'content-type': 'application/json',
    'ce-specversion': '1.0',
    'ce-id': `storm-${n}`,
    'ce-source': '/bench',
    'ce-type': domainCrashed.type,
    'ce-partitionkey': host ?? ''
  }
  return requestOf('/', headers, JSON.stringify(data))
}
