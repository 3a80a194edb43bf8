import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { bundle } from '../../shared/runtime/bundle.ts'
import { cacheFolder } from '../servers/cache.ts'
import type { ControlPlane } from '../servers/access.ts'
import { eventually } from '../servers/eventually.ts'
import { startKubernetes } from '../servers/real-kubernetes.ts'
import { request } from '../servers/request.ts'
import { reviews } from './admission/reviews.ts'
import { megabytes } from './knative/processes.ts'
import { cpuSeconds } from './lib/cpu.ts'
import { connected, freePort } from './lib/port.ts'
import { press, requestOf } from './lib/press.ts'
import { shipped } from './lib/shipped.ts'
import { median, type Report } from './report.ts'

export const name = 'admission'

const version = '20.0.0'
const rounds = 3
const requests = 20_000 // a round; with the warm-up more than 100,000 in all reach ours
const here = join(import.meta.dirname, 'admission')
const token = 'bench'

/** Into a cache, once; never into our dependencies. */
async function installPepr(): Promise<string> {
  const folder = cacheFolder(`pepr-${version}`)
  const there = await stat(join(folder, 'node_modules/pepr/package.json')).catch(() => undefined)
  if (there) return folder
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{"private":true}')
  await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', `pepr@${version}`], { cwd: folder })
  return folder
}

/** Where Pepr keeps its state: it takes no request before it has found that. */
async function installPeprStore(api: ControlPlane): Promise<void> {
  const data = { type: 'object', additionalProperties: { type: 'string' } }
  const schema = { openAPIV3Schema: { type: 'object', properties: { data } } }
  const names = { plural: 'peprstores', singular: 'peprstore', kind: 'PeprStore' }
  const versions = [{ name: 'v1', served: true, storage: true, schema }]
  const spec = { group: 'pepr.dev', names, scope: 'Namespaced', versions }
  await request(api, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'peprstores.pepr.dev' },
    spec
  })
  await request(api, 'POST', '/api/v1/namespaces', { metadata: { name: 'pepr-system' } })
  await eventually('the store', async () => (await request(api, 'GET', '/apis/pepr.dev/v1/peprstores')).status === 200)
}

interface Server {
  process: ChildProcess
  port: number
  path: string
}

async function start(
  path: string,
  args: (port: number) => string[],
  env: (port: number) => Record<string, string>
): Promise<Server> {
  const port = await freePort()
  const child = spawn(process.execPath, ['--conditions=drover', ...args(port)], {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env(port) },
    stdio: ['ignore', 'ignore', 'inherit']
  })
  ;(await connected(port)).destroy()
  return { process: child, port, path }
}

interface Load {
  perSecond: number
  perCpuSecond: number
  p99: number
}

const pressed = ({ port, path }: Server, connections: number, amount: number) =>
  press({
    port,
    tls: true,
    connections,
    amount,
    requests: reviews.map(body => requestOf(path, { 'content-type': 'application/json' }, body))
  })

async function load(server: Server, amount: number): Promise<Load> {
  const { pid } = server.process
  const before = cpuSeconds(pid)
  const { answers, perSecond, p99 } = await pressed(server, 50, amount)
  return { perSecond, perCpuSecond: answers / (cpuSeconds(pid) - before), p99 }
}

const admits = (server: Server): Promise<boolean> =>
  pressed(server, 1, 1).then(
    () => true,
    () => false
  )

/** What the webhook adds to an apply: the same applies with and without its configuration. */
async function applyMs(api: ControlPlane, amount: number): Promise<number[]> {
  const times: number[] = []
  for (let i = 0; i < amount; i++) {
    const { object } = (JSON.parse(reviews[i % reviews.length] ?? '') as { request: { object: { metadata: { name: string } } } })
      .request
    const path = `/apis/vitistack.io/v1alpha1/namespaces/shop/machines/${object.metadata.name}?fieldManager=bench&dryRun=All`
    const { apiVersion, kind, spec } = object as { apiVersion?: string; kind?: string; spec?: object }
    const startedAt = performance.now()
    const { status, body } = await request(
      api,
      'PATCH',
      path,
      { apiVersion, kind, metadata: { name: object.metadata.name }, spec },
      { 'content-type': 'application/apply-patch+yaml' }
    )
    times.push(performance.now() - startedAt)
    if (status !== 201) throw new Error(JSON.stringify(body))
  }
  return times.sort((a, b) => a - b)
}
const quantile = (sorted: number[], q: number): number => sorted[Math.floor(sorted.length * q)] ?? Number.NaN

export async function run(report: Report): Promise<void> {
  const pepr = await installPepr()
  const api = await startKubernetes()
  await installPeprStore(api)
  const folder = await mkdtemp(join(tmpdir(), 'bench-adm-'))
  const servers: Server[] = []
  try {
    await copyFile(api.webhookCert, join(folder, 'tls.crt'))
    await copyFile(api.webhookKey, join(folder, 'tls.key'))
    // As it ships: bundled, with the settings of knative/admission.yaml.
    const main = await bundle(join(import.meta.dirname, '../../functions/admission/main.ts'), folder)
    await writeFile(join(folder, 'package.json'), '{"type":"module"}')
    const { env } = await shipped('admission.yaml')
    const plain = String(await freePort())
    const ours = await start(
      '/admit',
      () => [main],
      port => ({
        ...env,
        KUBECONFIG: api.kubeconfig,
        HOST: '127.0.0.1',
        PORT: plain,
        TLS_PORT: String(port),
        TLS_DIR: folder
      })
    )
    servers.push(ours)
    const floor = await start(
      '/',
      port => [join(here, 'floor.ts'), folder, String(port)],
      () => ({})
    )
    servers.push(floor)
    // Neither side is told how much to log: each does as it ships.
    const peer = await start(
      `/validate/${token}`,
      port => [join(here, 'pepr.ts'), pepr, String(port)],
      () => ({
        SSL_KEY_PATH: join(folder, 'tls.key'),
        SSL_CERT_PATH: join(folder, 'tls.crt'),
        PEPR_API_TOKEN: token,
        KUBECONFIG: api.kubeconfig,
        NODE_ENV: 'production'
      })
    )
    servers.push(peer)
    await eventually('ours to be ready', async () => (await fetch(`http://127.0.0.1:${plain}/readyz`)).status === 200)
    for (const server of servers) await eventually(`${server.path} to answer`, () => admits(server), 60_000)
    for (const server of servers) await load(server, 5000)
    const measured: Record<'ours' | 'floor' | 'peer', Load[]> = { ours: [], floor: [], peer: [] }
    for (let round = 0; round < rounds; round++) {
      measured.ours.push(await load(ours, requests))
      measured.floor.push(await load(floor, requests))
      measured.peer.push(await load(peer, 5000))
    }
    const of = (who: keyof typeof measured, what: keyof Load): number => median(measured[who].map(round => round[what]))
    const rate = (who: keyof typeof measured): number => of(who, 'perSecond')
    report({
      name: 'admission.reviews against Pepr',
      ours: rate('ours'),
      peer: rate('peer'),
      goal: { atLeast: 2.5 },
      unit: 'reviews/s'
    })
    report({
      name: 'admission.reviews against a bare server',
      ours: rate('ours'),
      peer: rate('floor'),
      goal: { atLeast: 0.6 },
      unit: 'reviews/s'
    })
    // On a machine that is busy otherwise these two say more than the two above.
    const perCpu = of('ours', 'perCpuSecond')
    const unit = 'reviews/s of CPU'
    report({ name: 'admission.reviews-per-cpu against Pepr', ours: perCpu, peer: of('peer', 'perCpuSecond'), unit })
    report({ name: 'admission.reviews-per-cpu against a bare server', ours: perCpu, peer: of('floor', 'perCpuSecond'), unit })
    report({ name: 'admission.p99', ours: of('ours', 'p99'), goal: { atMost: 10 }, unit: 'ms' })
    // What two cores and this load leave of it whoever answers.
    report({ name: 'admission.p99 of a bare server', ours: of('floor', 'p99'), unit: 'ms' })
    report({ name: 'admission.p99 of Pepr', ours: of('peer', 'p99'), unit: 'ms' })
    await load(ours, 40_000)
    report({
      name: 'admission.memory after 100,000 reviews',
      ours: await megabytes(ours.process.pid!),
      goal: { atMost: 120 },
      unit: 'MB'
    })
    await addedLatency(api, ours, report)
  } finally {
    for (const server of servers) server.process.kill()
    await api.stop()
    await rm(folder, { recursive: true })
  }
}

async function addedLatency(api: ControlPlane, ours: Server, report: Report): Promise<void> {
  await request(api, 'POST', '/api/v1/namespaces', { metadata: { name: 'shop' } })
  await applyMs(api, 100)
  const without = await applyMs(api, 400)
  const rules = [
    { apiGroups: ['vitistack.io'], apiVersions: ['v1alpha1'], resources: ['machines'], operations: ['CREATE', 'UPDATE'] }
  ]
  const clientConfig = {
    url: `https://127.0.0.1:${ours.port}${ours.path}`,
    caBundle: (await readFile(api.ca)).toString('base64')
  }
  const webhook = {
    name: 'machines.admission.drover.dev',
    clientConfig,
    rules,
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    failurePolicy: 'Fail'
  }
  await request(api, 'POST', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    metadata: { name: 'bench' },
    webhooks: [webhook]
  })
  const bad = { apiVersion: 'vitistack.io/v1alpha1', kind: 'Machine', metadata: { name: 'bad' }, spec: { template: 'huge' } }
  await eventually(
    'the webhook to be asked',
    async () =>
      (await request(api, 'POST', '/apis/vitistack.io/v1alpha1/namespaces/shop/machines?dryRun=All', bad)).status === 422
  )
  const judged = await applyMs(api, 400)
  for (const [text, q] of [
    ['p50', 0.5],
    ['p99', 0.99]
  ] as const) {
    const added = quantile(judged, q) - quantile(without, q)
    report({ name: `admission.added to an apply, ${text}`, ours: Math.max(added, 0), unit: 'ms' })
  }
}
