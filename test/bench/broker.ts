import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Registry } from 'prom-client'
import { Agent, request } from 'undici'
import { nodeChanged } from '../../shared/events/objects.ts'
import { emitter } from '../../shared/runtime/emitter.ts'
import { emittedTotal } from '../../shared/runtime/metrics.ts'
import { closing } from './lib/closing.ts'
import { atLeast, atMost, type Figures, type Report } from './lib/figures.ts'
import { alternate, percentile } from './lib/statistics.ts'

const direct = 'a direct POST to the same sink'
export const figures: Figures = {
  'broker.events': { unit: 'events/s', against: direct, goal: atLeast(0.5) },
  'broker.events.state': { unit: 'events/s', against: direct },
  'broker.events.bare': { unit: 'events/s', against: direct, note: 'by the quickest client at hand' },
  'broker.p99': { unit: 'ms added', goal: atMost(5), note: 'at 1,000 events a second; a round is the p99 of 5,000 events' },
  'broker.p99.state': { unit: 'ms added' },
  'broker.sent-again': { unit: 'events', note: 'by the emitter, whose deliveries are retried' }
}

const processes = join(import.meta.dirname, '../local/broker')
const events = 5000
const inFlight = 100
const pacedEvents = 5000

/**
 * Sender, broker and sink are three processes; a direct POST and the way through the broker are measured in turns. The sender is the
 * emitter that agents use; the `bare` figures are by the quickest client at hand, whose direct POST costs next to nothing.
 */
export const run = (report: Report): Promise<void> =>
  closing(async t => {
    const folder = await mkdtemp(join(tmpdir(), 'broker-'))
    t.teardown(() => rm(folder, { recursive: true }))
    const start = async (file: string, ...args: string[]): Promise<Child> => {
      const child = await started(file, args)
      t.teardown(() => child.process.kill())
      return child
    }
    const sink = await start('sink-process.ts')
    const memory = await start('broker-process.ts', sink.url)
    const durable = await start('broker-process.ts', sink.url, join(folder, 'state.db'))
    const agent = new Agent()
    t.teardown(() => agent.close())
    const urls = { direct: sink.url, memory: memory.url, state: durable.url }
    const retries = new Registry()
    const sending = (how: (url: string) => Send, measure: (send: Send, sink: ChildProcess) => Promise<number>) => {
      const way = (url: string) => {
        const send = how(url)
        return () => measure(send, sink.process)
      }
      return { direct: way(urls.direct), memory: way(urls.memory), state: way(urls.state) }
    }
    const measured = async (ways: ReturnType<typeof sending>) => {
      await alternate(1, ways) // warm
      return alternate(report.rounds(5), ways)
    }
    const emitted = await measured(sending(url => emitting(url, retries), flood))
    report('broker.events', emitted.memory, { peer: emitted.direct })
    report('broker.events.state', emitted.state, { peer: emitted.direct })
    const bare = await measured(sending(url => posting(url, agent), flood))
    report('broker.events.bare', bare.memory, { peer: bare.direct })
    const p99 = await measured(sending(url => posting(url, agent), paced))
    const added = (side: number[]): number[] => side.map((ms, round) => ms - (p99.direct[round] ?? Number.NaN))
    report('broker.p99', added(p99.memory))
    report('broker.p99.state', added(p99.state))
    const { values } = await emittedTotal(retries).get()
    report(
      'broker.sent-again',
      values.filter(({ labels }) => labels.outcome === 'retried').reduce((sum, { value }) => sum + value, 0)
    )
  })

interface Child {
  process: ChildProcess
  url: string
}

async function started(file: string, args: string[]): Promise<Child> {
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

function emitting(sink: string, metrics: Registry): Send {
  const emit = emitter({ sink, source: '/bench', metrics })
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

/** The 99th percentile at 1,000 events a second, in milliseconds. */
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
  return percentile(nanoseconds, 99) / 1e6
}
