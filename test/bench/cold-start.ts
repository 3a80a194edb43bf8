import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { hypervisorChanged, nodeChanged } from '../../shared/events/objects.ts'
import { bundle } from '../../shared/runtime/bundle.ts'
import { warm } from '../../shared/runtime/warm.ts'
import { connected, freePort } from './lib/port.ts'
import { median, type Report } from './report.ts'

export const name = 'cold-start'

const root = join(import.meta.dirname, '../..')
const fixtures = join(root, 'test/fixtures/functions')
const starts = 15
const idleMs = 5000

function request(type: string, changed: string): string {
  const data = JSON.stringify({ apiVersion: 'v1', kind: 'Node', name: 'n1' })
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

/**
 * The bundle and compile cache as they ship, and a bare node:http server, in turns. The best start of each says what the
 * code costs, the median what one gets on a machine that does other things too.
 */
export async function run(report: Report): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'cs-'))
  const cache = join(folder, '.cache')
  const build = async (entry: string): Promise<string> => {
    const file = await bundle(entry, folder)
    await warm(file, cache)
    return file
  }
  try {
    const hypervisor = await build(join(root, 'functions/hypervisor/main.ts'))
    const noop = await build(join(fixtures, 'noop/main.ts'))
    const bare = join(fixtures, 'bare.js')
    const [ours, theirs, bares]: [Start[], Start[], Start[]] = [[], [], []]
    for (let i = 0; i < starts; i++) {
      ours.push(await start(hypervisor, cache, ignored))
      bares.push(await start(bare, cache, ignored))
      theirs.push(await start(noop, cache, handled))
    }
    for (const [statistic, of] of Object.entries({ median, best })) {
      const compare = (list: Start[], key: keyof Start) => ({
        ours: of(list.map(one => one[key])),
        peer: of(bares.map(one => one[key])),
        unit: 'ms'
      })
      report({ name: `cold-start.listening.${statistic}`, ...compare(ours, 'listening'), goal: { atMost: 1.5 } })
      report({ name: `cold-start.first-204.${statistic}`, ...compare(ours, 'answered'), goal: { atMost: 2 } })
      report({ name: `cold-start.first-handled.${statistic}`, ...compare(theirs, 'answered'), goal: { atMost: 2 } })
    }
    report({ name: 'cold-start.memory', ours: await idleMegabytes(hypervisor, cache), goal: { atMost: 80 }, unit: 'MB' })
  } finally {
    await rm(folder, { recursive: true })
  }
}

// as knative/hypervisor.yaml has it
const shippedOptions = '--max-semi-space-size=2'

const best = (values: readonly number[]): number => Math.min(...values)

function spawnOn(port: number, file: string, cache: string): ChildProcess {
  const env = { PORT: String(port), HOST: '127.0.0.1', NODE_COMPILE_CACHE: cache, NODE_OPTIONS: shippedOptions }
  return spawn(process.execPath, [file, String(port)], { env, stdio: 'ignore' })
}

async function start(file: string, cache: string, message: string): Promise<Start> {
  const port = await freePort()
  const begin = performance.now()
  const child = spawnOn(port, file, cache)
  try {
    const socket = await connected(port)
    const listening = performance.now() - begin
    socket.write(message)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    const answered = performance.now() - begin
    socket.destroy()
    if (!answer.toString().startsWith('HTTP/1.1 204 '))
      throw new Error(`204 was expected, not ${answer.toString().slice(0, 200)}`)
    return { listening, answered }
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}

async function idleMegabytes(file: string, cache: string): Promise<number> {
  const port = await freePort()
  const child = spawnOn(port, file, cache)
  try {
    const socket = await connected(port)
    socket.write(ignored)
    await once(socket, 'data')
    socket.destroy()
    await sleep(idleMs)
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8')
    const [, kibibytes] = /VmRSS:\s+(\d+) kB/.exec(status) ?? []
    return (Number(kibibytes) * 1024) / 1e6
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}
