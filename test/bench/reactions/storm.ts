// 500 faults a second on ten hosts: the function as it ships, in a process of its own with the memory of its manifest, on a real API server.
// An answer means written down; what is refused is sent again, as a broker would. The fleet is suspected, so that nobody is restarted.
import { setTimeout as pause } from 'node:timers/promises'
import type { Kube } from '../../../shared/kube/index.ts'
import { domainCrashed } from '../../../shared/events/libvirt.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { eventually } from '../../servers/eventually.ts'
import { closing } from '../lib/closing.ts'
import { atLeast, atMost, type Figures, type Report } from '../lib/figures.ts'
import { requestOf } from '../lib/press.ts'
import { cpuSeconds, megabytesAsMib, residentMib } from '../lib/processes.ts'
import { accountOf, type Decision, type Fault } from './ledger.ts'
import { calm, plant, type Server } from './plant.ts'
import { sender } from './sender.ts'

const seconds = Number(process.env['STORM_SECONDS'] ?? 60)
const rate = 500
const offered = 510 // a little more than is to be reached: a sender of 500 could only fall short of it
const hosts = Array.from({ length: 10 }, (_, n) => `hv${n}`)
const each = 50
const stepMs = 10
const total = rate * seconds

const users = ['function', 'control-plane', 'sender-and-nova']
export const figures: Figures = {
  'reactions.storm.rate': { unit: 'faults/s', goal: atLeast(rate), note: `of ${offered} offered for ${seconds} s` },
  'reactions.storm.written.p50': { unit: 'ms from the event to its answer', of: 'p50' },
  'reactions.storm.written.p99': { unit: 'ms from the event to its answer', of: 'p99' },
  'reactions.storm.decided': { unit: 'faults', note: `of ${total}: with a decision of their own in the status` },
  'reactions.storm.coalesced': { unit: 'faults', note: 'counted by a decision about an earlier fault of the same server' },
  'reactions.storm.lost': { unit: 'faults', goal: atMost(0), note: 'in no decision' },
  'reactions.storm.counted-twice': { unit: 'faults', note: 'by decisions, of what was sent again' },
  'reactions.storm.sent-again': { unit: 'times', note: 'by the broker, since the function refused' },
  'reactions.storm.restarted': { unit: 'servers', goal: atMost(0), note: 'it is the fleet that failed (HA-15)' },
  'reactions.storm.resident': { unit: 'MiB', of: 'max', goal: atMost(megabytesAsMib(128)), note: '128 MB at most' },
  ...Object.fromEntries(users.map(user => [`reactions.storm.cpu.${user}`, { unit: 'ms of CPU for a fault' }])),
  'reactions.storm.emitted': { unit: 'events of the trail' }
}

export const run = (report: Report): Promise<void> =>
  closing(async t => {
    const { admin, servers, sink, url, pid, containerConcurrency, served, note } = await plant(t, hosts, each, 'off')
    // what is more waits in front of the function
    const broker = await sender(Number(new URL(url).port), containerConcurrency)
    t.teardown(() => broker.close())
    const faults: Fault[] = []
    const waits: number[] = []
    const resident: number[] = []
    let refused = 0
    const send = async (n: number): Promise<void> => {
      const from = performance.now()
      const { fault, request } = faultOf(servers[n % servers.length]!, n)
      faults.push(fault)
      while ((await broker.send(request)) !== 204) {
        refused++
        await pause(200)
      }
      waits.push(performance.now() - from)
    }
    const used = (): number[] => [cpuSeconds(pid), served(), cpuSeconds(process.pid)]
    await calm(served)
    const decisions = followDecisions(admin, close => t.teardown(close))
    const before = used()
    const onTheWay = new Set<Promise<void>>()
    const errors: unknown[] = []
    const began = performance.now()
    let lookedMs = 0
    for (let sent = 0; sent < total;) {
      const now = performance.now() - began
      while (sent < Math.min((now / 1000) * offered, total) && broker.free() > 0) {
        const answered: Promise<void> = send(sent++).then(
          () => void onTheWay.delete(answered),
          (err: unknown) => void errors.push(err)
        )
        onTheWay.add(answered)
      }
      if (now - lookedMs > 500) {
        lookedMs = now
        resident.push(await residentMib(pid))
      }
      if (errors.length > 0) throw new AggregateError(errors, String(errors[0]))
      await pause(stepMs)
    }
    await Promise.all(onTheWay)
    if (errors.length > 0) throw new AggregateError(errors, String(errors[0]))
    const tookSeconds = (performance.now() - began) / 1000
    resident.push(await residentMib(pid))
    const after = used()
    const account = accountOf(faults, await decisions())
    report('reactions.storm.rate', waits.length / tookSeconds, { note })
    for (const p of ['p50', 'p99']) report(`reactions.storm.written.${p}`, waits, { note })
    for (const state of ['decided', 'coalesced', 'lost'] as const) report(`reactions.storm.${state}`, account[state].length)
    if (account.lost.length > 0) console.error(`faults in no decision: ${account.lost.slice(0, 20).join(', ')}`)
    report('reactions.storm.counted-twice', account.countedTwice)
    report('reactions.storm.sent-again', refused)
    report('reactions.storm.restarted', servers.filter(({ actions }) => actions.length > 0).length)
    report('reactions.storm.resident', resident, { note })
    for (const [n, user] of users.entries())
      report(`reactions.storm.cpu.${user}`, (((after[n] ?? 0) - (before[n] ?? 0)) / total) * 1000)
    report('reactions.storm.emitted', sink.taken())
  })

/** Every decision that was ever written, with the most that it counted: a later fault's may take the place of an earlier one's. */
function followDecisions(admin: Kube, onClose: (close: () => Promise<void>) => void): () => Promise<Decision[]> {
  const decisions = new Map<string, Decision>()
  const seen = new Set<string>()
  const stop = new AbortController()
  const take = ({ metadata, status }: Hypervisor): void => {
    for (const { server, decisionId, count = 1 } of status?.ha?.incidents ?? [])
      if (count > (decisions.get(decisionId)?.count ?? 0)) decisions.set(decisionId, { server, decisionId, count })
    seen.add(metadata.resourceVersion ?? '')
  }
  const follow = async (): Promise<void> => {
    for await (const news of admin.watch(Hypervisor, { signal: stop.signal })) {
      if (news.type === 'snapshot') news.items.forEach(take)
      if (news.type === 'changed') take(news.object)
    }
  }
  const following = follow()
  onClose(async () => {
    stop.abort()
    await following
  })
  return async () => {
    for (const host of hosts) {
      const version = (await admin.find(Hypervisor, host))?.metadata.resourceVersion ?? ''
      await eventually(`the watch to be at the last state of ${host}`, async () => seen.has(version))
    }
    return [...decisions.values()]
  }
}

function faultOf({ id, name, host }: Server, n: number): { fault: Fault; request: Buffer } {
  const atMs = Date.now()
  const fault = { id: `storm-${n}`, host: host ?? '', server: id, atMs }
  const at = new Date(atMs).toISOString()
  const data = { host, at, bootId: 'boot-1', epoch: 1, server: id, name, event: 'stopped', detail: 'failed' }
  const headers = {
    'content-type': 'application/json',
    'ce-specversion': '1.0',
    'ce-id': fault.id,
    'ce-source': '/bench',
    'ce-type': domainCrashed.type,
    'ce-partitionkey': host ?? ''
  }
  return { fault, request: requestOf('/', headers, JSON.stringify(data)) }
}
