// functions/ha as it ships, in a process of its own with the memory of its manifest, on a real API server with so many hosts.
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import { connect } from '../../../shared/kube/index.ts'
import { startOpenStack } from '../../../shared/local/openstack/index.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { condition } from '../../functions/host-life/fixtures.ts'
import { novaEnv } from '../../functions/ha/stage.ts'
import { startBundle } from '../../runtime/bundled.ts'
import { asServiceAccount } from '../../servers/identity.ts'
import { startKubernetes } from '../../servers/real-kubernetes.ts'
import { confine } from '../lib/confine.ts'
import { cpuSeconds } from '../lib/processes.ts'
import { shipped } from '../lib/shipped.ts'

export type Server = ReturnType<Awaited<ReturnType<typeof startOpenStack>>['addServer']>

const atOnce = 8

export async function plant(t: Test, hosts: readonly string[], each: number, state: 'off' | 'running') {
  const api = await startKubernetes()
  t.teardown(() => api.stop())
  const fake = await startOpenStack({ hosts: [...hosts] })
  t.teardown(() => fake.close())
  const folder = await mkdtemp(join(tmpdir(), 'drover-storm-'))
  t.teardown(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'policy.yaml'), 'mode: drover\n')
  const admin = await connect({ manager: 'bench', kubeconfig: api.kubeconfig })
  t.teardown(() => admin.close())
  const servers = hosts.flatMap(host => Array.from({ length: each }, (_, n) => fake.addServer({ name: `${host}-${n}`, host })))
  const of = Map.groupBy(servers, ({ host }) => host)
  const since = new Date().toISOString()
  const waiting = hosts.values()
  const worker = async (): Promise<void> => {
    for (const host of waiting) {
      await admin.create(Hypervisor, { metadata: { name: host } })
      const instances = (of.get(host) ?? []).map(({ id, name }) => ({ id, name, active: state === 'running', state, since }))
      await admin.applyStatus(Hypervisor, {
        metadata: { name: host },
        status: { nova: { host }, instances, numInstances: each, conditions: [condition('Onboarding', 'False')] as never }
      })
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  const sink = await sinkOf(t)
  const settings = await shipped('ha.yaml')
  const { containerConcurrency } = settings
  const confined = await confine(t, settings)
  const env = {
    ...novaEnv(fake),
    KUBECONFIG: await asServiceAccount(t, api, 'ha.yaml', 'ha'),
    POLICY_FILE: join(folder, 'policy.yaml'),
    K_SINK: sink.url,
    LOG_LEVEL: 'info',
    ...settings.env
  }
  const { url, pid } = await startBundle(t, 'functions/ha/main.ts', env, confined.command)
  const controlPlane = await processesOf(dirname(api.kubeconfig))
  const served = (): number => controlPlane.reduce((sum, one) => sum + cpuSeconds(one), 0)
  const note = `${confined.note}, ${containerConcurrency} events at once`
  return { admin, servers, sink, url, pid, containerConcurrency, served, note }
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
export async function calm(seconds: () => number): Promise<void> {
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
