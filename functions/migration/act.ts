import type { Cloud, Migration as MoveRecord } from 'openstack-sdk-lite'
import { attempt } from '../../shared/openstack/failure.ts'
import type { Kube } from '../../shared/kube/index.ts'
import type { Platform } from '../../shared/runtime/function.ts'
import { Eviction } from '../../shared/schema/eviction.ts'
import { Migration } from '../../shared/schema/migration.ts'
import { afterSample, isOld, isOver, isSilent, lost, withRecord, type Sample, type Status } from './decide.ts'

export interface Deps extends Pick<Platform, 'clock' | 'log'> {
  kube: Kube
  cloud: Cloud
  namespace: string
}

/** A sample or an end, told by an agent. What only Nova knows is asked for once in each move. */
export async function take(sample: Sample, deps: Deps): Promise<void> {
  const live = await deps.kube.find(Migration, sample.server, deps.namespace)
  const after = afterSample(live?.status, sample)
  const known = after.novaMigrationId !== undefined && after.destination !== undefined && after.started === live?.status?.started
  await write(sample.server, known ? after : await askNova(sample.server, after, deps), live, deps)
}

async function askNova(server: string, status: Status, deps: Deps): Promise<Status> {
  const asked = await attempt(() => deps.cloud.migrations.list({ server }))
  if (!asked.ok) {
    deps.log.info({ server, ...asked.failure }, 'Nova could not be asked; the samples go on')
    return status
  }
  const newest = newestOf(asked.value)
  if (!newest || newest.type === 'evacuation') return status
  // of an earlier move: Nova has no record of this one yet
  if (status.novaMigrationId === String(newest.id) && status.destination === (newest.target ?? undefined)) return status
  return withRecord({ ...status, novaMigrationId: String(newest.id) }, newest, await evictionOf(server, deps))
}

const newestOf = (records: readonly MoveRecord[]): MoveRecord | undefined => records.toSorted((a, b) => b.id - a.id)[0]

async function evictionOf(server: string, { kube }: Deps): Promise<Status['evictionRef']> {
  const { items } = await kube.list(Eviction)
  const found = items.find(({ status }) => status?.instances?.some(({ id }) => id === server))
  return found && { name: found.metadata.name, ...(found.metadata.uid && { uid: found.metadata.uid }) }
}

/** HV-17: the server drops a status on create, so that the object comes first. */
async function write(name: string, status: Status, live: Migration | undefined, { kube, namespace }: Deps): Promise<void> {
  const metadata = { name, namespace }
  const object = live ?? (await kube.apply(Migration, { metadata, spec: {} }))
  await kube.applyStatus(Migration, { metadata, status }, { live: object })
}

/** The back-stop: moves that agents stopped telling of, and cold moves, of which none tells. */
export async function sweep(speed: 'fast' | 'slow', deps: Deps): Promise<void> {
  const { kube, cloud, namespace, clock } = deps
  const nowMs = clock().getTime()
  const { items } = await kube.list(Migration, { namespace })
  const byName = new Map(items.map(item => [item.metadata.name, item]))
  const { items: evictions } = await kube.list(Eviction)
  const moving = evictions.flatMap(({ metadata, status }) =>
    (status?.instances ?? [])
      .filter(({ state }) => state === 'Migrating' || state === 'Confirming' || state === 'Queued')
      .map(({ id }) => ({ id, ref: { name: metadata.name, ...(metadata.uid && { uid: metadata.uid }) } }))
  )
  const unheard = moving.filter(({ id }) => !isOver(byName.get(id)?.status) && byName.get(id)?.status?.stats === undefined)
  const silent = items.filter(({ status }) => status && isSilent(status, nowMs))
  for (const { id, ref } of unheard) await follow(id, byName.get(id), ref, deps)
  for (const item of silent) {
    const records = await attempt(() => cloud.migrations.list({ server: item.metadata.name }))
    const newest = records.ok ? newestOf(records.value) : undefined
    if (!records.ok || !item.status) continue
    const after = newest ? withRecord(item.status, newest, item.status.evictionRef) : lost(item.status, clock())
    await write(item.metadata.name, isOver(after) ? after : lost(after, clock()), item, deps)
  }
  // what ended only by Nova's record, as cold moves do
  for (const item of items.filter(
    ({ status }) => status && !isOver(status) && status.stats === undefined && !moving.some(({ id }) => id === status.serverId)
  )) {
    await follow(item.metadata.name, item, item.status?.evictionRef, deps)
  }
  if (speed === 'fast') return
  for (const { metadata, status } of items) {
    if (status && isOld(status, nowMs)) await kube.delete(Migration, { name: metadata.name, namespace, uid: metadata.uid })
  }
}

async function follow(server: string, live: Migration | undefined, ref: Status['evictionRef'], deps: Deps): Promise<void> {
  const records = await attempt(() => deps.cloud.migrations.list({ server }))
  const newest = records.ok ? newestOf(records.value) : undefined
  if (newest) await write(server, withRecord(live?.status, newest, ref), live, deps)
}
