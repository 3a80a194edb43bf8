// Drover on the real Knative: how long a change of a Node takes to its Hypervisor, what a cold start costs, what a broker carries, what it
// all costs when nothing happens. EVENTS_A_SECOND and SECONDS make the load smaller while one tries.
import type { Test } from 'tap'
import { startPlatform } from '../../shared/local/platform.ts'
import { enter } from '../knative-cluster/world.ts'
import { everyServiceReady } from '../knative-cluster/installed.ts'
import { knative, prepare } from '../servers/knative.ts'
import { coldReactions, coldStarts } from './knative/cold.ts'
import { idle } from './knative/idle.ts'
import { load } from './knative/load.ts'
import { percentile } from './knative/percentile.ts'
import { measure } from './reaction.ts'
import { median, type Report } from './report.ts'

export const name = 'knative'

const changes = Number(process.env['CHANGES'] ?? 300)

export async function run(report: Report): Promise<void> {
  const closers: Array<() => unknown> = []
  const t = { teardown: (close: () => unknown) => void closers.push(close) } as unknown as Test
  const prepared = await prepare()
  if (!prepared.ok) throw new Error(prepared.reason)
  try {
    const world = await enter(t, await knative(t))
    await everyServiceReady(world)
    const { cpu, memory } = await idle(world)
    report({ name: 'knative.idle.cpu', ours: cpu, unit: '% of a core' })
    report({ name: 'knative.idle.memory', ours: memory, unit: 'MB' })

    const warm = await measure(world.cluster.kubeconfig, changes)
    const local = await startPlatform({ functions: ['hypervisor'], logs: { write: () => {} } })
    closers.push(() => local.close())
    const peer = await measure(local.kubeconfig, changes)
    for (const p of [50, 99])
      report({ name: `knative.reaction.warm.p${p}`, ours: percentile(warm, p), peer: percentile(peer, p), unit: 'ms' })
    report({ name: 'knative.reaction.cold', ours: median(await coldReactions(world, 5)), unit: 'ms' })

    const starts = await coldStarts(world, 7)
    report({ name: 'knative.cold-start.total', ours: median(starts.map(({ total }) => total)), unit: 'ms' })
    report({ name: 'knative.cold-start.ours', ours: median(starts.map(({ ours }) => ours)), goal: { atMost: 300 }, unit: 'ms' })

    const { lost, rate, p50, p99, memory: held } = await load(t, world)
    report({ name: 'knative.load.rate', ours: rate, unit: 'events/s' })
    report({ name: 'knative.load.lost', ours: lost, goal: { atMost: 0 }, unit: 'events' })
    report({ name: 'knative.load.p50', ours: p50, unit: 'ms' })
    report({ name: 'knative.load.p99', ours: p99, unit: 'ms' })
    report({ name: 'knative.load.memory', ours: held, goal: { atMost: 128 }, unit: 'MB' })
  } finally {
    for (const close of closers.toReversed()) await close()
  }
}
