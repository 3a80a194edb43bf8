import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
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
import { addedToAnApply } from './admission/added.ts'
import { closing } from './lib/closing.ts'
import { confine } from './lib/confine.ts'
import { atLeast, atMost, type Figures, type Report } from './lib/figures.ts'
import { freePort } from '../servers/port.ts'
import { connected } from './lib/port.ts'
import { press, requestOf } from './lib/press.ts'
import { cpuSeconds, megabytesAsMib, residentMib } from './lib/processes.ts'
import { shipped } from './lib/shipped.ts'
import { alternate } from './lib/statistics.ts'

const version = '20.0.0'
const pepr = `Pepr ${version}`
const floor = 'a bare node:https server'

export const figures: Figures = {
  'admission.reviews.pepr': { unit: 'reviews/s', against: pepr, goal: atLeast(2.5) },
  'admission.reviews.bare': { unit: 'reviews/s', against: floor, goal: atLeast(0.6) },
  // On a machine that is busy otherwise these two say more than the two above.
  'admission.reviews-per-cpu.pepr': { unit: 'reviews/s of CPU', against: pepr },
  'admission.reviews-per-cpu.bare': { unit: 'reviews/s of CPU', against: floor },
  'admission.p99': { unit: 'ms', goal: atMost(10), note: 'a round is the p99 of 20,000 reviews' },
  // What two cores and this load leave of it, whatever answers.
  'admission.p99.of-bare': { unit: 'ms' },
  'admission.p99.of-pepr': { unit: 'ms' },
  'admission.memory': { unit: 'MiB', goal: atMost(megabytesAsMib(120)), note: '120 MB; after 100,000 reviews' },
  'admission.added.p50': { unit: 'ms added to an apply' },
  'admission.added.p99': { unit: 'ms added to an apply' }
}

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

async function started(
  path: string,
  port: number,
  [command = '', ...args]: readonly string[],
  env: Record<string, string>
): Promise<Server> {
  const child = spawn(command, args, {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
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

export const run = (report: Report): Promise<void> =>
  closing(async t => {
    const installed = await installPepr()
    const api = await startKubernetes()
    t.teardown(() => api.stop())
    await installPeprStore(api)
    const folder = await mkdtemp(join(tmpdir(), 'bench-adm-'))
    t.teardown(() => rm(folder, { recursive: true }))
    await copyFile(api.webhookCert, join(folder, 'tls.crt'))
    await copyFile(api.webhookKey, join(folder, 'tls.key'))
    // As it ships: bundled, with the settings of knative/admission.yaml.
    const main = await bundle(join(import.meta.dirname, '../../functions/admission/main.ts'), folder)
    await writeFile(join(folder, 'package.json'), '{"type":"module"}')
    const settings = await shipped('admission.yaml')
    const confined = await confine(t, settings)
    const plain = String(await freePort())
    const port = await freePort()
    const start = async (path: string, port: number, command: readonly string[], env: Record<string, string>) => {
      const server = await started(path, port, command, env)
      t.teardown(() => server.process.kill())
      return server
    }
    const node = [process.execPath, '--conditions=drover']
    const tls = { KUBECONFIG: api.kubeconfig, HOST: '127.0.0.1', PORT: plain, TLS_PORT: String(port), TLS_DIR: folder }
    const ours = await start('/admit', port, [...confined.command, ...node, main], { ...settings.env, ...tls })
    const barePort = await freePort()
    const bare = await start('/', barePort, [...node, join(here, 'floor.ts'), folder, String(barePort)], {})
    // Neither side is given a log level: each does as it ships.
    const peprPort = await freePort()
    const peer = await start(`/validate/${token}`, peprPort, [...node, join(here, 'pepr.ts'), installed, String(peprPort)], {
      SSL_KEY_PATH: join(folder, 'tls.key'),
      SSL_CERT_PATH: join(folder, 'tls.crt'),
      PEPR_API_TOKEN: token,
      KUBECONFIG: api.kubeconfig,
      NODE_ENV: 'production'
    })
    const servers = [ours, bare, peer]
    await eventually('ours to be ready', async () => (await fetch(`http://127.0.0.1:${plain}/readyz`)).status === 200)
    for (const server of servers) await eventually(`${server.path} to answer`, () => admits(server), 60_000)
    for (const server of servers) await load(server, 5000)
    const measured = await alternate(report.rounds(3), {
      ours: () => load(ours, requests),
      bare: () => load(bare, requests),
      peer: () => load(peer, 5000)
    })
    const of = (which: keyof typeof measured, what: keyof Load): number[] => measured[which].map(round => round[what])
    const { note } = confined
    for (const [figure, what] of [
      ['reviews', 'perSecond'],
      ['reviews-per-cpu', 'perCpuSecond']
    ] as const) {
      report(`admission.${figure}.pepr`, of('ours', what), { peer: of('peer', what), note })
      report(`admission.${figure}.bare`, of('ours', what), { peer: of('bare', what), note })
    }
    report('admission.p99', of('ours', 'p99'), { note })
    report('admission.p99.of-bare', of('bare', 'p99'))
    report('admission.p99.of-pepr', of('peer', 'p99'))
    await load(ours, 100_000 - report.rounds(3) * requests)
    report('admission.memory', await residentMib(ours.process.pid), { note })
    const added = await addedToAnApply(api, `https://127.0.0.1:${ours.port}${ours.path}`, report.rounds(4))
    report('admission.added.p50', added.p50)
    report('admission.added.p99', added.p99)
  })
