// 30 servers on the real Nova: Drover, a bare script that asks for all moves at once (the floor), and a loop that moves one after the other.
import { setTimeout as pause } from 'node:timers/promises'
import { connect, type Cloud } from 'openstack-sdk-lite'
import { atMost } from '../../../functions/evict/at-most.ts'
import { decide } from '../../../functions/nova-notifications/decide.ts'
import { read } from '../../../functions/nova-notifications/read.ts'
import { makeServers } from '../../functions/evict/nova.ts'
import { borrowOpenStack, type RealOpenStack } from '../../servers/openstack.ts'
import { onNotification } from '../../servers/openstack/notifications.ts'
import type { Report } from '../report.ts'
import { closing, served } from './served.ts'

const count = 30
const serialCount = 3
const host = 'hv1'

export async function onNova(report: Report, moveAndPoll: (cloud: Cloud, id: string) => Promise<void>): Promise<void> {
  const { target, stop } = await borrowOpenStack()
  const cloud = await connect({ ...target.options, rate: { perSecond: 1e6, burst: 1e6 } })
  try {
    for (const copySeconds of [0, 2]) {
      await target.setLiveMove(host, copySeconds)
      const floorMs = await bare(cloud, target)
      const oursMs = await drover(cloud, target)
      const serialMs = (await serial(cloud, target, moveAndPoll)) * (count / serialCount)
      const name = `evict.nova.${copySeconds}s`
      report({ name, ours: oursMs / 1000, peer: floorMs / 1000, goal: { atMost: 1.1 }, unit: 's, against all moves at once' })
      report({
        name: `${name}.speed`,
        ours: count / (oursMs / 1000),
        peer: count / (serialMs / 1000),
        goal: { atLeast: 6 },
        unit: 'servers/s, against a serial loop'
      })
    }
  } finally {
    cloud.close()
    await stop()
  }
}

const onHost = (cloud: Cloud) => cloud.servers.list({ host, allProjects: true })

const fillTries = 5

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
      console.error('once more:', err)
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
  await atMost(count, ids, id => cloud.servers.liveMigrate(id))
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
