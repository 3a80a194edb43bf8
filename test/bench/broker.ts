import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { nodeChanged } from '../../shared/events/objects.ts'
import { emitter } from '../../shared/runtime/emitter.ts'
import { median, type Report } from './report.ts'

export const name = 'broker'

const processes = join(import.meta.dirname, '../local/broker')
const rounds = 5
const events = 5000
const inFlight = 100
const pacedEvents = 5000

/**
 * Sender, broker and sink are three processes; a direct POST and the way through the broker are measured in turns. The sender is the
 * emitter that agents use; the `bare` figures are by the quickest client at hand, whose direct POST costs next to nothing.
 */
export async function run(report: Report): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'broker-'))
  const sink = await start('sink-process.ts')
  const memory = await start('broker-process.ts', sink.url)
  const durable = await start('broker-process.ts', sink.url, join(folder, 'state.db'))
  const agent = new Agent()
  try {
    const ways = [sink.url, memory.url, durable.url]
    const [direct, ours, state] = await compare(
      ways.map(url => emitting(url)),
      sink.process
    )
    report({ name: 'broker.events', ours: ours!, peer: direct!, goal: { atLeast: 0.5 }, unit: 'events/s' })
    report({ name: 'broker.events.state', ours: state!, peer: direct!, unit: 'events/s' })
    const [bareDirect, bare] = await compare(
      ways.slice(0, 2).map(url => posting(url, agent)),
      sink.process
    )
    report({ name: 'broker.events.bare', ours: bare!, peer: bareDirect!, unit: 'events/s' })

    const [p99, p99Memory, p99State] = await latencies(
      ways.map(url => posting(url, agent)),
      sink.process
    )
    report({ name: 'broker.p99', ours: p99Memory! - p99!, goal: { atMost: 5 }, unit: 'ms added' })
    report({ name: 'broker.p99.state', ours: p99State! - p99!, unit: 'ms added' })
  } finally {
    for (const child of [sink, memory, durable]) child.process.kill()
    await agent.close()
    await rm(folder, { recursive: true })
  }
}

interface Child {
  process: ChildProcess
  url: string
}

async function start(file: string, ...args: string[]): Promise<Child> {
  const child = fork(join(processes, file), args, { execArgv: ['--conditions=drover'], serialization: 'advanced' })
  const [url] = (await once(child, 'message')) as [string]
  return { process: child, url }
}

type Send = () => Promise<void>

const data = {
  apiVersion: 'v1',
  kind: 'Node',
  name: 'node-17',
  uid: '7d1f0c1e-4f0e-4c6e-9a38-1c7d5c0b9d11',
  resourceVersion: '48213'
}
const body = Buffer.from(JSON.stringify(data))
const now = (): string => String(process.hrtime.bigint())

function emitting(sink: string): Send {
  const emit = emitter({ sink, source: '/bench' })
  return () => emit({ kind: nodeChanged, data, extensions: { sent: now() } })
}

function posting(url: string, dispatcher: Agent): Send {
  const attributes = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-type': nodeChanged.type, 'ce-source': '/bench' }
  return async () => {
    const headers = { ...attributes, 'content-type': 'application/json', 'ce-sent': now() }
    const answer = await request(url, { method: 'POST', headers, body, dispatcher })
    await answer.body.dump()
    if (answer.statusCode !== 202) throw new Error(`answered ${answer.statusCode}`)
  }
}

/** Medians of alternating rounds, after one to warm up. */
async function compare(ways: Send[], sink: ChildProcess): Promise<number[]> {
  for (const send of ways) await flood(send, sink)
  const rates: number[][] = ways.map(() => [])
  for (let round = 0; round < rounds; round++) for (const [i, send] of ways.entries()) rates[i]!.push(await flood(send, sink))
  return rates.map(median)
}

/** Events a second, from the first one sent to the last one delivered. */
async function flood(send: Send, sink: ChildProcess): Promise<number> {
  const delivered = once(sink, 'message')
  const started = performance.now()
  sink.send(events)
  let left = events
  const worker = async (): Promise<void> => {
    while (left-- > 0) await send()
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
  await delivered
  return (events * 1000) / (performance.now() - started)
}

/** 99th percentiles at 1,000 events a second, in milliseconds. */
async function latencies(ways: Send[], sink: ChildProcess): Promise<number[]> {
  const figures: number[] = []
  for (const send of ways) figures.push(await paced(send, sink))
  return figures
}

async function paced(send: Send, sink: ChildProcess): Promise<number> {
  const delivered = once(sink, 'message') as Promise<[number[]]>
  sink.send(pacedEvents)
  const started = performance.now()
  const sent: Array<Promise<void>> = []
  while (sent.length < pacedEvents) {
    const due = Math.min(pacedEvents, Math.floor(performance.now() - started))
    while (sent.length < due) sent.push(send())
    await sleep(1)
  }
  await Promise.all(sent)
  const [nanoseconds] = await delivered
  return nanoseconds.toSorted((a, b) => a - b)[Math.floor(nanoseconds.length * 0.99)]! / 1e6
}
