// One host emptied: the function as it is served, on the embedded Kubernetes API and a Nova that takes its time, against a loop that does what the
// operator in use does: one server at a time, looked at every 10 s. That peer is measured on a few servers, since its time grows with their number.
import { setTimeout as pause } from 'node:timers/promises'
import { connect as connectCloud, type Cloud } from 'openstack-sdk-lite'
import { type FakeOpenStack, startOpenStack } from '../../shared/local/openstack/index.ts'
import { watchMoves } from '../functions/evict/agents.ts'
import { drain } from '../functions/evict/world.ts'
import { passwordOf } from '../openstack-sdk-lite/fake.ts'
import { prepare } from '../servers/openstack.ts'
import { novaFigures, onNova } from './evict/nova.ts'
import { served } from './evict/served.ts'
import { closing } from './lib/closing.ts'
import { atLeast, atMost, type Figures, type Report } from './lib/figures.ts'
import { alternate, percentile } from './lib/statistics.ts'

/** EVICT=fake or nova runs one half. */
const half = process.env['EVICT']
const servers = Number(process.env['SERVERS'] ?? 100)
const lanes = 4
const copyMs = 2000
const serialServers = 3
const destinationLimit = 8
const note = `${servers} servers; RAISED: in the process of the bench, no limits of the manifest, DESTINATION_LIMIT ${destinationLimit}`

const fakeFigures: Figures = {
  'evict.total': { unit: 's', against: 'copies ÷ lanes × copy time', goal: atMost(1.15), note },
  'evict.overhead.p95': { unit: 's beyond the copy', goal: atMost(1), note },
  'evict.calls': { unit: 'Nova calls for each server', goal: atMost(4), note },
  'evict.speed': { unit: 'servers/s', against: 'a serial loop', goal: atLeast(10), note },
  'evict.waiting': { unit: 'OpenStack calls a minute', goal: atMost(5), note: '200 servers without room' }
}
export const figures: Figures = { ...(half !== 'nova' && fakeFigures), ...(half !== 'fake' && novaFigures) }

export async function run(report: Report): Promise<void> {
  if (half !== 'nova') await onFake(report)
  if (half === 'fake') return
  const real = await prepare()
  if (!real.ok) throw new Error(real.reason)
  await onNova(report, moveAndPoll)
}

async function onFake(report: Report): Promise<void> {
  const runs = await alternate<'ours' | 'serial', Emptied>(report.rounds(3), { ours: parallel, serial })
  const floor = runs.ours.map(() => ((servers / lanes) * copyMs) / 1000)
  const perSecond = (list: Emptied[]) => list.map(({ count, totalMs }) => (count * 1000) / totalMs)
  report(
    'evict.total',
    runs.ours.map(({ totalMs }) => totalMs / 1000),
    { peer: floor }
  )
  report(
    'evict.overhead.p95',
    runs.ours.map(({ gapsMs }) => percentile(gapsMs, 95) / 1000)
  )
  report(
    'evict.calls',
    runs.ours.map(({ calls, count }) => calls / count)
  )
  report('evict.speed', perSecond(runs.ours), { peer: perSecond(runs.serial) })
  report('evict.waiting', await waiting())
}

interface Emptied {
  count: number
  totalMs: number
  /** A lane is idle from the end of one copy to the beginning of the next. */
  gapsMs: number[]
  calls: number
}

const fill = (fake: FakeOpenStack, count: number): void => {
  Object.assign(fake.host('hv1'), { liveMoveMs: copyMs, liveMoveLimit: lanes })
  for (let at = 0; at < count; at++) fake.addServer({ name: `s${at}`, host: 'hv1' })
}

const parallel = (): Promise<Emptied> =>
  closing(async t => {
    const fake = await startOpenStack({ hosts: ['hv1', 'hv2', 'hv3'] })
    t.teardown(() => fake.close())
    fill(fake, servers)
    const { serviceId } = fake.host('hv1')
    const env = { DESTINATION_LIMIT: String(destinationLimit) }
    const { post, evict } = await served(t, passwordOf(fake), serviceId ?? '', { maxParallel: lanes + 1, env })
    watchMoves(
      t,
      async () => fake.world.migrations.map(({ id, instance, source, status }) => ({ id, server: instance.id, source, status })),
      post,
      20
    )
    fake.forget()
    const begun = performance.now()
    await evict()
    while ([...fake.world.instances.values()].some(({ host }) => host === 'hv1')) await pause(10)
    const totalMs = performance.now() - begun
    const starts = fake.world.migrations.map(({ runningSinceMs }) => runningSinceMs ?? 0).toSorted((a, b) => a - b)
    const gapsMs = starts.slice(lanes).map((start, at) => start - (starts[at] ?? 0) - copyMs)
    return { count: servers, totalMs, gapsMs, calls: fake.requests.filter(({ service }) => service === 'compute').length }
  })

async function serial(): Promise<Emptied> {
  const fake = await startOpenStack({ hosts: ['hv1', 'hv2', 'hv3'] })
  const cloud = await connectCloud(passwordOf(fake))
  try {
    fill(fake, serialServers)
    const begun = performance.now()
    for (const { id } of await cloud.servers.list({ host: 'hv1', allProjects: true })) await moveAndPoll(cloud, id)
    return { count: serialServers, totalMs: performance.now() - begun, gapsMs: [], calls: 0 }
  } finally {
    cloud.close()
    await fake.close()
  }
}

async function moveAndPoll({ servers }: Cloud, id: string): Promise<void> {
  await servers.liveMigrate(id)
  do await pause(10_000)
  while ((await servers.get(id))?.host === 'hv1')
}

/** Ten minutes of a full cloud, in no time. */
async function waiting(): Promise<number> {
  const drained = await drain()
  try {
    for (const host of ['hv2', 'hv3']) {
      const provider = drained.fake.world.providers.get(drained.fake.host(host).id)
      for (const inventory of provider?.inventories.values() ?? []) Object.assign(inventory, { total: 0, reserved: 0 })
    }
    for (let at = 0; at < 200; at++) drained.fake.addServer({ name: `s${at}`, host: 'hv1' })
    const minutes = async (count: number): Promise<void> => {
      const untilMs = drained.clock.now() + count * 60_000
      while (drained.clock.now() < untilMs) drained.clock.advance(Math.max(10, (await drained.pass()).nextCheckMs))
    }
    await minutes(30) // every server was tried once
    drained.fake.forget()
    await minutes(10)
    return drained.fake.requests.length / 10
  } finally {
    await drained.close()
  }
}
