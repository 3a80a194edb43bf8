// 500 faults a second on ten hosts: the function as it ships, in a process of its own with the memory of its manifest, on a real API server.
// An answer means written down; what is refused is sent again, as a broker would. The fleet is suspected, so that nobody is restarted.
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import { domainCrashed } from '../../../shared/events/libvirt.ts'
import { connect } from '../../../shared/kube/index.ts'
import { startOpenStack } from '../../../shared/local/openstack/index.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { condition } from '../../functions/host-life/fixtures.ts'
import { novaEnv } from '../../functions/ha/stage.ts'
import { startBundle } from '../../runtime/bundled.ts'
import { asServiceAccount } from '../../servers/identity.ts'
import { startKubernetes } from '../../servers/kubernetes.ts'
import { closing } from '../evict/served.ts'
import { percentile } from '../knative/percentile.ts'
import { megabytes } from '../knative/processes.ts'
import { cpuSeconds } from '../lib/cpu.ts'
import { requestOf } from '../lib/press.ts'
import { shipped } from '../lib/shipped.ts'
import type { Report } from '../report.ts'
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
    const api = await startKubernetes()
    t.teardown(() => api.stop())
    const fake = await startOpenStack({ hosts })
    t.teardown(() => fake.close())
    const folder = await mkdtemp(join(tmpdir(), 'drover-storm-'))
    t.teardown(() => rm(folder, { recursive: true }))
    await writeFile(join(folder, 'policy.yaml'), 'mode: drover\n')
    const admin = await connect({ manager: 'bench', kubeconfig: api.kubeconfig })
    t.teardown(() => admin.close())
    const servers = hosts.flatMap(host => Array.from({ length: each }, (_, n) => fake.addServer({ name: `${host}-${n}`, host })))
    for (const host of hosts) {
      await admin.create(Hypervisor, { metadata: { name: host } })
      const since = new Date().toISOString()
      const instances = servers
        .filter(one => one.host === host)
        .map(({ id, name }) => ({ id, name, active: false, state: 'off', since }))
      await admin.applyStatus(Hypervisor, {
        metadata: { name: host },
        status: { nova: { host }, instances, numInstances: each, conditions: [condition('Onboarding', 'False')] as never }
      })
    }
    const sink = await sinkOf(t)
    const { env, containerConcurrency } = await shipped('ha.yaml')
    const { url, pid } = await startBundle(t, 'functions/ha/main.ts', {
      ...novaEnv(fake),
      KUBECONFIG: await asServiceAccount(t, api, 'ha.yaml', 'ha'),
      POLICY_FILE: join(folder, 'policy.yaml'),
      K_SINK: sink.url,
      LOG_LEVEL: 'info',
      ...env
    })
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
    const controlPlane = await processesOf(dirname(api.kubeconfig))
    const served = (): number => controlPlane.reduce((sum, one) => sum + cpuSeconds(one), 0)
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

type Server = ReturnType<Awaited<ReturnType<typeof startOpenStack>>['addServer']>

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

/** A broker that takes what the function tells. */
async function sinkOf(t: Test): Promise<{ url: string; taken: () => number }> {
  let taken = 0
  const server = createServer((request, response) => {
    taken++
    request.resume().on('end', () => response.writeHead(202).end())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, taken: () => taken }
}

/** An API server that was started a moment ago is busy with itself: definitions, their OpenAPI, caches. */
async function calm(seconds: () => number): Promise<void> {
  for (let before = seconds(), left = 30; left > 0; left--) {
    await pause(2000)
    if (seconds() - before < 0.3) return
    before = seconds()
  }
}

/** The processes that were given files of this folder: etcd, the API server and its controllers. */
async function processesOf(folder: string): Promise<number[]> {
  const found: number[] = []
  for (const pid of (await readdir('/proc')).filter(name => /^\d+$/.test(name))) {
    const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '') // it ended meanwhile
    if (words.includes(folder)) found.push(Number(pid))
  }
  return found
}
