// 30 servers on the real Nova: Drover, a bare script that asks for all moves at once (the floor), and a loop that moves one after the other.
import { setTimeout as pause } from 'node:timers/promises'
import { connect, type Cloud } from 'openstack-sdk-lite'
import { atMost as inLanes } from '../../../functions/evict/at-most.ts'
import { decide } from '../../../functions/nova-notifications/decide.ts'
import { read } from '../../../functions/nova-notifications/read.ts'
import { makeServers } from '../../functions/evict/nova.ts'
import { borrowOpenStack, type RealOpenStack } from '../../servers/openstack.ts'
import { onNotification } from '../../servers/openstack/notifications.ts'
import { closing } from '../lib/closing.ts'
import { atLeast, atMost, type Figures, type Report } from '../lib/figures.ts'
import { alternate } from '../lib/statistics.ts'
import { served } from './served.ts'

const count = 30
const serialCount = 3
const host = 'hv1'
const copies = [0, 2]
const note = `${count} servers; RAISED: in the process of the bench, DESTINATION_LIMIT ${count}, ZONE_LIMIT and REGION_LIMIT 100, no rate limit for the script`
const figureOf = (copySeconds: number): string => `evict.nova.${copySeconds}s`

export const novaFigures: Figures = {
  ...Object.fromEntries(
    copies.flatMap(copySeconds => [
      [figureOf(copySeconds), { unit: 's', against: 'a script that asks for all moves at once', goal: atMost(1.1), note }],
      [`${figureOf(copySeconds)}.speed`, { unit: 'servers/s', against: 'a serial loop', goal: atLeast(6), note }]
    ])
  ),
  'evict.nova.filled-again': { unit: 'times', note: 'the host could not be filled with servers at the first try' }
}

export async function onNova(report: Report, moveAndPoll: (cloud: Cloud, id: string) => Promise<void>): Promise<void> {
  const { target, stop } = await borrowOpenStack()
  const cloud = await connect({ ...target.options, rate: { perSecond: 1e6, burst: 1e6 } })
  try {
    for (const copySeconds of copies) {
      await target.setLiveMove(host, copySeconds)
      const runs = await alternate(report.rounds(3), {
        floor: () => bare(cloud, target),
        ours: () => drover(cloud, target),
        serial: () => serial(cloud, target, moveAndPoll)
      })
      const seconds = (list: number[]) => list.map(ms => ms / 1000)
      const perSecond = (list: number[], servers: number) => list.map(ms => (servers * 1000) / ms)
      report(figureOf(copySeconds), seconds(runs.ours), { peer: seconds(runs.floor) })
      report(`${figureOf(copySeconds)}.speed`, perSecond(runs.ours, count), { peer: perSecond(runs.serial, serialCount) })
    }
    report('evict.nova.filled-again', filledAgain)
  } finally {
    cloud.close()
    await stop()
  }
}

const onHost = (cloud: Cloud) => cloud.servers.list({ host, allProjects: true })

const fillTries = 5
let filledAgain = 0

async function fill(cloud: Cloud, target: RealOpenStack, servers: number): Promise<string[]> {
  const wanted = Array.from({ length: servers }, (_, at) => ({ name: `b${at}`, host }))
  for (let tries = 1; ; tries++) {
    for (const { id } of await cloud.servers.list({ allProjects: true })) await cloud.servers.delete(id)
    while ((await cloud.servers.list({ allProjects: true })).length > 0) await pause(200)
    const [service] = await cloud.services.list({ host, binary: 'nova-compute' })
    // Nova takes its mark off the host in Placement only once, and lets it be while allocations are on their way out
    for (const status of ['disabled', 'enabled'] as const) await cloud.services.update(service?.id ?? '', { status })
    try {
      return [...(await makeServers(cloud, target, wanted)).values()]
    } catch (err) {
      if (tries === fillTries) throw err
      filledAgain++
      console.error('the host is filled once more:', err)
    }
  }
}

/** Not more often: Nova's API has one process here, and a list of 30 servers keeps it from its work. */
async function untilEmpty(cloud: Cloud, begun: number): Promise<number> {
  while ((await onHost(cloud)).length > 0) await pause(500)
  return performance.now() - begun
}

async function bare(cloud: Cloud, target: RealOpenStack): Promise<number> {
  const ids = await fill(cloud, target, count)
  const [service] = await cloud.services.list({ host, binary: 'nova-compute' })
  const begun = performance.now()
  if (service) await cloud.services.update(service.id, { status: 'disabled', disabledReason: 'drover: bench' })
  await inLanes(count, ids, id => cloud.servers.liveMigrate(id))
  return untilEmpty(cloud, begun)
}

async function drover(cloud: Cloud, target: RealOpenStack): Promise<number> {
  await fill(cloud, target, count)
  const [service] = await cloud.services.list({ host, binary: 'nova-compute' })
  return closing(async t => {
    const env = { DESTINATION_LIMIT: String(count), ZONE_LIMIT: '100', REGION_LIMIT: '100' }
    const { post, evict } = await served(t, target.options, service?.id ?? '', { maxParallel: count, env })
    // Nova's own word is what moves the engine on: no agent runs behind a fake driver, and a watcher of records would slow Nova down
    const stop = await onNotification(await target.amqpUrl(), message => {
      const notification = read(message)
      const hint = notification && decide(notification)
      if (hint?.about === 'server') void post('org.openstack.nova.server.changed.v1', hint)
    })
    t.teardown(stop)
    const begun = performance.now()
    await evict()
    return untilEmpty(cloud, begun)
  })
}

async function serial(
  cloud: Cloud,
  target: RealOpenStack,
  moveAndPoll: (cloud: Cloud, id: string) => Promise<void>
): Promise<number> {
  const ids = await fill(cloud, target, serialCount)
  const begun = performance.now()
  for (const id of ids) await moveAndPoll(cloud, id)
  return performance.now() - begun
}
