// Drover on the real Knative: how long a change of a Node takes to its Hypervisor, what a cold start costs, what a broker carries, what it
// all costs when nothing happens. EVENTS_A_SECOND, SECONDS, CHANGES, COLD and IDLE_SECONDS make it
// smaller while one tries.
import type { Test } from 'tap'
import { startPlatform } from '../../shared/local/platform.ts'
import { enter } from '../knative-cluster/world.ts'
import { atZero, stopTicks } from '../knative-cluster/hosts.ts'
import { everyServiceReady } from '../knative-cluster/installed.ts'
import { knative, prepare } from '../servers/knative.ts'
import { coldReactions, coldStarts } from './knative/cold.ts'
import { idle, type Cost } from './knative/idle.ts'
import { loaded, type Carried } from './knative/load.ts'
import { percentile } from './knative/percentile.ts'
import { measure } from './reaction.ts'
import { median, type Report } from './report.ts'

export const name = 'knative'

const changes = Number(process.env['CHANGES'] ?? 300)
const colds = Number(process.env['COLD'] ?? 5) // half a minute each, until the function rests again
const rate = Number(process.env['EVENTS_A_SECOND'] ?? 1000)
const seconds = Number(process.env['SECONDS'] ?? 60)

function tellIdle(report: Report, name: string, costs: Record<string, Cost>): void {
  for (const [whose, { processes, cpu, memory }] of Object.entries(costs)) {
    report({ name: `${name}.${whose}`, ours: processes, unit: 'processes' })
    report({ name: `${name}.${whose}.cpu`, ours: cpu, unit: '% of a core' })
    report({ name: `${name}.${whose}.memory`, ours: memory, unit: 'MB' })
  }
}

function tell(report: Report, name: string, { lost, again, rate, p50, p99, memory, busiest }: Carried): void {
  report({ name: `${name}.rate`, ours: rate, unit: 'events/s' })
  report({ name: `${name}.lost`, ours: lost, goal: { atMost: 0 }, unit: 'events' })
  report({ name: `${name}.again`, ours: again, unit: 'events' })
  report({ name: `${name}.p50`, ours: p50, unit: 'ms' })
  report({ name: `${name}.p99`, ours: p99, unit: 'ms' })
  report({ name: `${name}.memory`, ours: memory, goal: { atMost: 128 }, unit: 'MB' })
  for (const [program, share] of busiest) report({ name: `${name}.cpu ${program}`, ours: share, unit: '% of a core' })
}

export async function run(report: Report): Promise<void> {
  const closers: Array<() => unknown> = []
  const t = { teardown: (close: () => unknown) => void closers.push(close) } as unknown as Test
  const prepared = await prepare()
  if (!prepared.ok) throw new Error(prepared.reason)
  try {
    const world = await enter(t, await knative(t))
    await everyServiceReady(world)
    tellIdle(report, 'knative.idle', await idle(world)) // the fast tick keeps all functions awake that take it

    const warm = await measure(world.cluster.kubeconfig, changes)
    const local = await startPlatform({ functions: ['hypervisor'], logs: { write: () => {} } })
    closers.push(() => local.close())
    const peer = await measure(local.kubeconfig, changes)
    for (const p of [50, 99])
      report({ name: `knative.reaction.warm.p${p}`, ours: percentile(warm, p), peer: percentile(peer, p), unit: 'ms' })
    await stopTicks(world)
    await atZero(world, 'hypervisor')
    tellIdle(report, 'knative.resting', await idle(world)) // all at their minimum scale
    report({ name: 'knative.reaction.cold', ours: median(await coldReactions(world, colds)), unit: 'ms' })

    const starts = await coldStarts(world, colds)
    report({ name: 'knative.cold-start.total', ours: median(starts.map(({ total }) => total)), unit: 'ms' })
    report({ name: 'knative.cold-start.ours', ours: median(starts.map(({ ours }) => ours)), goal: { atMost: 300 }, unit: 'ms' })
    report({ name: 'knative.cold-start.probed', ours: median(starts.map(({ probed }) => probed)), unit: 'ms' })

    const carry = await loaded(t, world)
    const full = await carry({ rate, seconds })
    tell(report, 'knative.load', full)
    // what two cores cannot carry queues before the broker: how long an event takes is told of a rate that they can
    if (full.rate < 0.95 * rate)
      tell(report, 'knative.sustained', await carry({ rate: Math.floor(0.7 * full.rate), seconds: seconds / 2 }))
  } finally {
    for (const close of closers.toReversed()) await close()
  }
}
