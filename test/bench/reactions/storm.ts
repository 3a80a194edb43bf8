// 500 faults a second on ten hosts: the function as it ships, in a process of its own with the memory of its manifest, on a real API server.
// An answer means written down; what is refused is sent again, as a broker would. The fleet is suspected, so that nobody is restarted.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import { parseAllDocuments } from 'yaml'
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
import type { Report } from '../report.ts'

const seconds = Number(process.env['STORM_SECONDS'] ?? 60)
const rate = 500
const hosts = Array.from({ length: 10 }, (_, n) => `hv${n}`)
const each = 50
const stepMs = 10
const atOnce = 200 // containerConcurrency of the manifest: what is more waits in front of the function

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
    const { url } = await startBundle(t, 'functions/ha/main.ts', {
      ...novaEnv(fake),
      KUBECONFIG: await asServiceAccount(t, api, 'ha.yaml', 'ha'),
      POLICY_FILE: join(folder, 'policy.yaml'),
      K_SINK: 'http://127.0.0.1:9',
      LOG_LEVEL: 'info',
      ...(await shippedEnv())
    })
    const figure = async (metric: string): Promise<number> => {
      const text = await (await fetch(`${url}/metrics`)).text()
      return Number(new RegExp(`^${metric} (\\S+)$`, 'm').exec(text)?.[1])
    }
    let [sent, written, refused, resident] = [0, 0, 0, 0]
    const tell = async (n: number): Promise<void> => {
      const { id, name, host } = servers[n % servers.length]!
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
      for (;;) {
        const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(data) })
        await answer.arrayBuffer()
        if (answer.ok) break
        refused++
        await pause(200)
      }
      written++
    }
    const onTheWay = new Set<Promise<void>>()
    const began = performance.now()
    let lookedMs = 0
    while (sent < rate * seconds) {
      const now = performance.now() - began
      while (sent < Math.min((now / 1000) * rate, rate * seconds) && onTheWay.size < atOnce) {
        const told: Promise<void> = tell(sent++).finally(() => onTheWay.delete(told))
        onTheWay.add(told)
      }
      if (now - lookedMs > 500) {
        lookedMs = now
        resident = Math.max(resident, await figure('process_resident_memory_bytes'))
      }
      await pause(stepMs)
    }
    await Promise.all(onTheWay)
    const tookSeconds = (performance.now() - began) / 1000
    resident = Math.max(resident, await figure('process_resident_memory_bytes'))
    const known = new Set<string>()
    for (const host of hosts)
      for (const { server } of (await admin.find(Hypervisor, host))?.status?.ha?.incidents ?? []) known.add(server)
    const restarted = servers.filter(({ actions }) => actions.length > 0).length
    report({
      name: 'reactions.storm.rate',
      ours: written / tookSeconds,
      goal: { atLeast: rate * 0.95 },
      unit: `faults/s, ${seconds} s`
    })
    report({
      name: 'reactions.storm.lost',
      ours: sent - written + (Math.min(sent, servers.length) - known.size),
      goal: { atMost: 0 },
      unit: `of ${sent} faults, and servers without an incident`
    })
    report({ name: 'reactions.storm.refused', ours: refused, unit: 'sent again by the broker' })
    report({ name: 'reactions.storm.restarted', ours: restarted, goal: { atMost: 0 }, unit: 'servers: it is the fleet (HA-15)' })
    report({ name: 'reactions.storm.resident', ours: resident / 1e6, goal: { atMost: 128 }, unit: 'MB at most' })
    report({
      name: 'reactions.storm.cpu',
      ours: ((await figure('process_cpu_seconds_total')) / sent) * 1000,
      unit: 'ms of CPU for a fault'
    })
  })

/** What the manifest sets for Node and its memory. */
async function shippedEnv(): Promise<Record<string, string>> {
  const text = await readFile(join(import.meta.dirname, '../../../knative/ha.yaml'), 'utf8')
  const service = parseAllDocuments(text)
    .map(document => document.toJS() as Manifest)
    .find(({ apiVersion }) => apiVersion === 'serving.knative.dev/v1')
  const env = service?.spec.template.spec.containers[0]?.env ?? []
  return Object.fromEntries(
    env.filter(({ name }) => /^(?:NODE_OPTIONS|MALLOC_)/.test(name)).map(({ name, value }) => [name, value])
  )
}

interface Manifest {
  apiVersion: string
  spec: { template: { spec: { containers: { env: { name: string; value: string }[] }[] } } }
}
