// The bundle and compile cache as they ship, under the settings and limits of knative/hypervisor.yaml, and a bare node:http server, in turns.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { hypervisorChanged, nodeChanged } from '../../shared/events/objects.ts'
import { Node, type Kube } from '../../shared/kube/index.ts'
import { bundle } from '../../shared/runtime/bundle.ts'
import { warm } from '../../shared/runtime/warm.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { closing } from './lib/closing.ts'
import { confine, type Confined } from './lib/confine.ts'
import { embeddedApi } from './lib/embedded-api.ts'
import { atMost, type Figures, type Report } from './lib/figures.ts'
import { freePort } from '../servers/port.ts'
import { connected } from './lib/port.ts'
import { megabytesAsMib, residentMib } from './lib/processes.ts'
import { shipped } from './lib/shipped.ts'
import { alternate } from './lib/statistics.ts'

const root = join(import.meta.dirname, '../..')
const fixtures = join(root, 'test/fixtures/functions')
const idleMs = 5000

const against = 'a bare node:http server'
export const figures: Figures = {
  'cold-start.listening': { unit: 'ms', against, goal: atMost(1.5) },
  'cold-start.first-204': { unit: 'ms', against, goal: atMost(2), note: 'an event of no interest to the function' },
  'cold-start.first-handled': { unit: 'ms', against, goal: atMost(2), note: 'a function that does nothing' },
  // the same as `knative.cold-start.ours`, without a kubelet
  'cold-start.first-reconciled': {
    unit: 'ms',
    goal: atMost(300),
    note: 'process begun until the answer to a Node event, its Hypervisor written to the embedded API'
  },
  'cold-start.memory': { unit: 'MiB', goal: atMost(megabytesAsMib(80)), note: '80 MB; idle for 5 s after the first event' }
}

function request(type: string, changed: string, name = 'n1'): string {
  const data = JSON.stringify({ apiVersion: 'v1', kind: 'Node', name })
  const event = { specversion: '1.0', id: '1', source: '/cluster-agent', type, changed }
  const attributes = Object.entries(event).map(([attribute, value]) => `ce-${attribute}: ${value}`)
  const head = ['POST / HTTP/1.1', 'host: bench', 'content-type: application/json', `content-length: ${data.length}`]
  return [...head, ...attributes, '', data].join('\r\n')
}
// Of no interest to functions/hypervisor, so acknowledged without a cluster; of interest to the fixture, so validated and handled.
const ignored = request(hypervisorChanged.type, 'annotations')
const handled = request(nodeChanged.type, 'labels')

interface Start {
  listening: number
  answered: number
}

interface Place {
  env: Record<string, string>
  confined: Confined
}

export const run = (report: Report): Promise<void> =>
  closing(async t => {
    const folder = await mkdtemp(join(tmpdir(), 'cs-'))
    t.teardown(() => rm(folder, { recursive: true }))
    const cache = join(folder, '.cache')
    const build = async (entry: string): Promise<string> => {
      const file = await bundle(entry, folder)
      await warm(file, cache)
      return file
    }
    const hypervisor = await build(join(root, 'functions/hypervisor/main.ts'))
    const noop = await build(join(fixtures, 'noop/main.ts'))
    const bare = join(fixtures, 'bare.js')
    const { kubeconfig, admin } = await embeddedApi(t)
    const settings = await shipped('hypervisor.yaml')
    const confined = await confine(t, settings)
    const { note } = confined
    const place: Place = { env: { NODE_COMPILE_CACHE: cache, KUBECONFIG: kubeconfig, ...settings.env }, confined }
    const runs = await alternate(report.rounds(15), {
      ours: () => start(hypervisor, place, ignored),
      bare: () => start(bare, place, ignored),
      noop: () => start(noop, place, handled),
      reconciled: round => reconcile(admin, round, event => start(hypervisor, place, event))
    })
    const times = (all: Start[], key: keyof Start): number[] => all.map(one => one[key])
    const peer = (key: keyof Start) => ({ peer: times(runs.bare, key), note })
    report('cold-start.listening', times(runs.ours, 'listening'), peer('listening'))
    report('cold-start.first-204', times(runs.ours, 'answered'), peer('answered'))
    report('cold-start.first-handled', times(runs.noop, 'answered'), peer('answered'))
    report('cold-start.first-reconciled', times(runs.reconciled, 'answered'), { note })
    report('cold-start.memory', await idleMib(hypervisor, place), { note })
  })

/** A Node that is new in each round: an answer without its Hypervisor is no answer. */
async function reconcile(admin: Kube, round: number, starts: (event: string) => Promise<Start>): Promise<Start> {
  const name = `n${round}`
  await admin.create(Node, { metadata: { name, labels: { 'nova.openstack.cloud.sap/virt-driver': 'kvm' } } })
  const started = await starts(request(nodeChanged.type, 'created', name))
  if (!(await admin.find(Hypervisor, name))) throw new Error(`answered, but there is no Hypervisor ${name}`)
  return started
}

function spawnOn(port: number, file: string, { env, confined }: Place): ChildProcess {
  const [command, ...args] = [...confined.command, process.execPath, file, String(port)]
  return spawn(command, args, {
    env: { PORT: String(port), HOST: '127.0.0.1', PATH: process.env['PATH'], ...env },
    stdio: 'ignore'
  })
}

/** Its answer to the message, while it runs. */
async function withServer<T>(
  file: string,
  place: Place,
  message: string,
  use: (started: Start, pid: number) => T | Promise<T>
): Promise<T> {
  const port = await freePort()
  const begin = performance.now()
  const child = spawnOn(port, file, place)
  try {
    const socket = await connected(port)
    const listening = performance.now() - begin
    socket.write(message)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    const answered = performance.now() - begin
    socket.destroy()
    if (!answer.toString().startsWith('HTTP/1.1 204 '))
      throw new Error(`204 was expected, not ${answer.toString().slice(0, 200)}`)
    return await use({ listening, answered }, child.pid ?? 0)
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}

const start = (file: string, place: Place, message: string): Promise<Start> =>
  withServer(file, place, message, started => started)

const idleMib = (file: string, place: Place): Promise<number> =>
  withServer(file, place, ignored, async (_, pid) => {
    await sleep(idleMs)
    return residentMib(pid)
  })
