// Drover on the real Knative: how long a change of a Node takes to its Hypervisor, what a cold start costs, what a broker carries, what it
// all costs when nothing happens. EVENTS_A_SECOND, SECONDS, CHANGES, COLD and IDLE_SECONDS make it
// smaller while one tries.
import { startPlatform } from '../../shared/local/platform.ts'
import { enter } from '../knative-cluster/world.ts'
import { atZero, stopTicks } from '../knative-cluster/hosts.ts'
import { everyServiceReady } from '../knative-cluster/installed.ts'
import { knative, prepare } from '../servers/knative.ts'
import { coldReactions, coldStarts } from './knative/cold.ts'
import { idle, type Cost } from './knative/idle.ts'
import { loaded, type Carried } from './knative/load.ts'
import { closing } from './lib/closing.ts'
import { atLeast, atMost, type Figures, type Report } from './lib/figures.ts'
import { megabytesAsMib } from './lib/processes.ts'
import { alternate, percentile } from './lib/statistics.ts'
import { measure } from './reaction.ts'

const changes = Number(process.env['CHANGES'] ?? 100) // a round
const colds = Number(process.env['COLD'] ?? 5) // half a minute each, until the function rests again
const rate = Number(process.env['EVENTS_A_SECOND'] ?? 1000)
const seconds = Number(process.env['SECONDS'] ?? 60)
const against = 'the local platform'

const idleFigures = (name: string): Figures =>
  Object.fromEntries(
    ['drover', 'sidecars'].flatMap(whose => [
      [`${name}.${whose}`, { unit: 'processes' }],
      [`${name}.${whose}.ended`, { unit: 'processes', note: 'meanwhile, and left out of the two below' }],
      [`${name}.${whose}.cpu`, { unit: '% of a core' }],
      [`${name}.${whose}.memory`, { unit: 'MiB' }]
    ])
  )
const loadFigures = (name: string): Figures => ({
  [`${name}.lost`]: { unit: 'events', goal: atMost(0), note: 'never handled by the function' },
  [`${name}.duplicates`]: { unit: 'events', note: 'handled more than once' },
  [`${name}.again`]: { unit: 'times', note: 'sent again, since the broker did not take it' },
  [`${name}.p50`]: { unit: 'ms from due to handled', of: 'p50' },
  [`${name}.p99`]: { unit: 'ms from due to handled', of: 'p99' },
  [`${name}.memory`]: { unit: 'MiB', of: 'max', goal: atMost(megabytesAsMib(128)), note: '128 MB; the shipped limits hold' },
  [`${name}.looks-failed`]: { unit: 'times', note: 'of the looks at memory and log' }
})

export const figures: Figures = {
  ...idleFigures('knative.idle'),
  'knative.reaction.warm.p50': { unit: 'ms', against, note: `a round is of ${changes} changes` },
  'knative.reaction.warm.p99': { unit: 'ms', against, note: `a round is of ${changes} changes` },
  ...idleFigures('knative.resting'),
  'knative.reaction.cold': { unit: 'ms' },
  'knative.cold-start.total': { unit: 'ms' },
  'knative.cold-start.ours': { unit: 'ms', goal: atMost(300) },
  'knative.cold-start.probed': { unit: 'ms' },
  'knative.load.rate': { unit: 'events/s', goal: atLeast(0.95 * rate), note: `of ${rate} due for ${seconds} s` },
  ...loadFigures('knative.load'),
  'knative.sustained.rate': { unit: 'events/s', note: '0.7 of what was carried' },
  ...loadFigures('knative.sustained')
}

function tellIdle(report: Report, name: string, costs: Record<string, Cost>): void {
  for (const [whose, { processes, ended, cpu, memory }] of Object.entries(costs)) {
    report(`${name}.${whose}`, processes)
    report(`${name}.${whose}.ended`, ended)
    report(`${name}.${whose}.cpu`, cpu)
    report(`${name}.${whose}.memory`, memory)
  }
}

function tell(report: Report, name: string, carried: Carried): void {
  for (const key of ['rate', 'lost', 'duplicates', 'again', 'memory'] as const) report(`${name}.${key}`, carried[key])
  for (const p of ['p50', 'p99']) report(`${name}.${p}`, carried.times)
  report(`${name}.looks-failed`, carried.looksFailed)
  for (const [program, share] of carried.busiest) report.also(`${name}.cpu ${program}`, { unit: '% of a core' }, share)
}

export const run = (report: Report): Promise<void> =>
  closing(async t => {
    const prepared = await prepare()
    if (!prepared.ok) throw new Error(prepared.reason)
    const world = await enter(t, await knative(t))
    await everyServiceReady(world)
    tellIdle(report, 'knative.idle', await idle(world)) // the fast tick keeps all functions awake that take it

    const local = await startPlatform({ functions: ['hypervisor'], logs: { write: () => {} } })
    t.teardown(() => local.close())
    const warm = await alternate(report.rounds(3), {
      ours: round => measure(world.cluster.kubeconfig, changes, `host-${round}`),
      peer: round => measure(local.kubeconfig, changes, `host-${round}`)
    })
    const each = (rounds: number[][], p: number): number[] => rounds.map(times => percentile(times, p))
    for (const p of [50, 99]) report(`knative.reaction.warm.p${p}`, each(warm.ours, p), { peer: each(warm.peer, p) })
    await stopTicks(world)
    await atZero(world, 'hypervisor')
    tellIdle(report, 'knative.resting', await idle(world)) // all at their minimum scale
    report('knative.reaction.cold', await coldReactions(world, colds))

    const starts = await coldStarts(world, colds)
    for (const part of ['total', 'ours', 'probed'] as const)
      report(
        `knative.cold-start.${part}`,
        starts.map(one => one[part])
      )

    const carry = await loaded(t, world)
    const full = await carry({ rate, seconds })
    tell(report, 'knative.load', full)
    // what two cores cannot carry queues before the broker: how long an event takes is told of a rate that they can
    tell(report, 'knative.sustained', await carry({ rate: Math.floor(0.7 * full.rate), seconds: seconds / 2 }))
  })
