import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { join } from 'node:path'
import { nodeChanged } from '../../shared/events/objects.ts'
import { atLeast, atMost, type Declared, type Figures, type Report } from './lib/figures.ts'
import { freePort } from '../servers/port.ts'
import { connected } from './lib/port.ts'
import { press, requestOf } from './lib/press.ts'
import { cpuSeconds } from './lib/processes.ts'
import { alternate } from './lib/statistics.ts'

const against = 'faas-js-runtime'
const note = 'a function that does nothing, 100 connections; no manifest, so no limits'
const figureOf: Record<keyof Load, string> = {
  perSecond: 'runtime.events',
  perCpuSecond: 'runtime.events-per-cpu',
  p99: 'runtime.p99'
}
const declared = (unit: string, goal?: Declared['goal']): Declared => ({ unit, against, note, ...(goal && { goal }) })

export const figures: Figures = {
  [figureOf.perSecond]: declared('events/s', atLeast(3)),
  // On a machine that is busy otherwise, the load's own share of the cores hides the difference; this does not.
  [figureOf.perCpuSecond]: declared('events/s of CPU'),
  [figureOf.p99]: declared('ms', atMost(1))
}

const functions = join(import.meta.dirname, '../fixtures/functions')
const seconds = 3
const headers = {
  'content-type': 'application/json',
  'ce-specversion': '1.0',
  'ce-id': 'b1fe9535-2741-4d10-8eb0-881b4cd37bbf',
  'ce-type': nodeChanged.type,
  'ce-source': '/cluster-agent',
  'ce-time': '2026-11-16T04:56:11.681228569Z',
  'ce-subject': 'node-17',
  'ce-changed': 'labels'
}
const requests = [requestOf('/', headers, JSON.stringify({ apiVersion: 'v1', kind: 'Node', name: 'node-17' }))]

interface Load {
  perSecond: number
  perCpuSecond: number
  p99: number
}

interface Server {
  process: ChildProcess
  port: number
}

/** Each server is a process of its own, as it ships (ours logs a line for each event, the peer none), loaded in turns. */
export async function run(report: Report): Promise<void> {
  const [ourPort, peerPort] = [await freePort(), await freePort()]
  const ours = start(ourPort, [join(functions, 'noop/main.ts')])
  const peer = start(peerPort, [join(functions, 'faas-peer.ts'), String(peerPort)])
  try {
    for (const server of [ours, peer]) {
      ;(await connected(server.port)).destroy()
      await load(server, 1)
    }
    const measured = await alternate(report.rounds(5), { ours: () => load(ours, seconds), peer: () => load(peer, seconds) })
    const runsOf = (side: keyof typeof measured, key: keyof Load): number[] => measured[side].map(round => round[key])
    for (const [key, figure] of Object.entries(figureOf) as Array<[keyof Load, string]>)
      report(figure, runsOf('ours', key), { peer: runsOf('peer', key) })
  } finally {
    for (const server of [ours, peer]) server.process.kill()
  }
}

function start(port: number, args: string[]): Server {
  const options: SpawnOptions = { env: { PORT: String(port) }, stdio: ['ignore', 'ignore', 'inherit'] }
  return { port, process: spawn(process.execPath, ['--conditions=drover', ...args], options) }
}

async function load({ port, process: { pid } }: Server, duration: number): Promise<Load> {
  const before = cpuSeconds(pid)
  const { answers, perSecond, p99 } = await press({ port, connections: 100, seconds: duration, requests })
  return { perSecond, perCpuSecond: answers / (cpuSeconds(pid) - before), p99 }
}
