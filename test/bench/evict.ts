// One host emptied: the function as it is served, on the embedded Kubernetes API and a Nova that takes its time, against a loop that does what the
// operator in use does: one server at a time, looked at every 10 s. That peer is measured on a few servers, since its time grows with their number.
import { setTimeout as pause } from 'node:timers/promises'
import { connect as connectCloud, type Cloud } from 'openstack-sdk-lite'
import { type FakeOpenStack, startOpenStack } from '../../shared/local/openstack/index.ts'
import { watchMoves } from '../functions/evict/agents.ts'
import { drain } from '../functions/evict/world.ts'
import { passwordOf } from '../openstack-sdk-lite/fake.ts'
import { prepare } from '../servers/openstack.ts'
import { onNova } from './evict/nova.ts'
import { closing, served } from './evict/served.ts'
import type { Report } from './report.ts'

export const name = 'evict'

const servers = 100
const lanes = 4
const copyMs = 2000
const serialServers = 3

/** EVICT=fake or nova runs one half. */
export async function run(report: Report): Promise<void> {
  const half = process.env['EVICT']
  if (half !== 'nova') await onFake(report)
  const real = half === 'fake' ? undefined : await prepare()
  if (real?.ok) await onNova(report, moveAndPoll)
  else if (real) console.error(`left out: ${real.reason}`)
}

async function onFake(report: Report): Promise<void> {
  const ours = await parallel()
  const floorMs = (servers / lanes) * copyMs
  report({
    name: 'evict.total',
    ours: ours.totalMs / 1000,
    peer: floorMs / 1000,
    goal: { atMost: 1.15 },
    unit: 's, against copies ÷ lanes × copy time'
  })
  report({ name: 'evict.overhead.p95', ours: ours.overheadMs / 1000, goal: { atMost: 1 }, unit: 's beyond the copy' })
  report({ name: 'evict.calls', ours: ours.calls / servers, goal: { atMost: 4 }, unit: 'Nova calls for each server' })
  const perServerMs = await serial()
  report({
    name: 'evict.speed',
    ours: servers / (ours.totalMs / 1000),
    peer: 1000 / perServerMs,
    goal: { atLeast: 10 },
    unit: 'servers/s, against a serial loop'
  })
  report({
    name: 'evict.waiting',
    ours: await waiting(),
    goal: { atMost: 5 },
    unit: 'OpenStack calls a minute, 200 servers without room'
  })
}

const fill = (fake: FakeOpenStack, count: number): void => {
  Object.assign(fake.host('hv1'), { liveMoveMs: copyMs, liveMoveLimit: lanes })
  for (let at = 0; at < count; at++) fake.addServer({ name: `s${at}`, host: 'hv1' })
}

const parallel = (): Promise<{ totalMs: number; overheadMs: number; calls: number }> =>
  closing(async t => {
    const fake = await startOpenStack({ hosts: ['hv1', 'hv2', 'hv3'] })
    t.teardown(() => fake.close())
    fill(fake, servers)
    const { serviceId } = fake.host('hv1')
    const env = { DESTINATION_LIMIT: '8' }
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
    // a lane is idle from the end of one copy to the beginning of the next
    const starts = fake.world.migrations.map(({ runningSinceMs }) => runningSinceMs ?? 0).toSorted((a, b) => a - b)
    const gaps = starts
      .slice(lanes)
      .map((start, at) => start - (starts[at] ?? 0) - copyMs)
      .toSorted((a, b) => a - b)
    return {
      totalMs,
      overheadMs: gaps[Math.floor(gaps.length * 0.95)] ?? 0,
      calls: fake.requests.filter(({ service }) => service === 'compute').length
    }
  })

/** Milliseconds for each server. */
async function serial(): Promise<number> {
  const fake = await startOpenStack({ hosts: ['hv1', 'hv2', 'hv3'] })
  const cloud = await connectCloud(passwordOf(fake))
  try {
    fill(fake, serialServers)
    const begun = performance.now()
    for (const { id } of await cloud.servers.list({ host: 'hv1', allProjects: true })) await moveAndPoll(cloud, id)
    return (performance.now() - begun) / serialServers
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
