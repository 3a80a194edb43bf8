import type { Cloud, Migration as MoveRecord } from 'openstack-sdk-lite'
import { attempt } from '../../shared/openstack/failure.ts'
import { KubeError } from '../../shared/kube/errors.ts'
import type { Kube } from '../../shared/kube/index.ts'
import { appliedBy } from '../../shared/kube/unchanged.ts'
import type { Platform } from '../../shared/runtime/function.ts'
import { Eviction } from '../../shared/schema/eviction.ts'
import { Migration } from '../../shared/schema/migration.ts'
import { afterSample, isEarlier, isOld, isOver, isSilent, lost, manager, withRecord, type Sample, type Status } from './decide.ts'

export interface Deps extends Pick<Platform, 'clock' | 'log'> {
  kube: Kube
  cloud: Cloud
  namespace: string
}

const races = 5

/** A sample or an end, told by an agent. What only Nova knows is asked for once in each move. */
export async function take(sample: Sample, deps: Deps): Promise<void> {
  for (let race = 1; ; race++) {
    const live = await deps.kube.find(Migration, sample.server, deps.namespace)
    const after = afterSample(live?.status, sample)
    const known =
      after.novaMigrationId !== undefined && after.destination !== undefined && after.started === live?.status?.started
    try {
      return await write(sample.server, known ? after : await askNova(sample.server, after, deps), live, deps)
    } catch (err) {
      // another process was told of the end meanwhile: its word is not written over
      if (!(err instanceof KubeError) || err.code !== 'Conflict' || race === races) throw err
    }
  }
}

async function askNova(server: string, status: Status, deps: Deps): Promise<Status> {
  const asked = await attempt(() => deps.cloud.migrations.list({ server }))
  if (!asked.ok) {
    deps.log.info({ server, ...asked.failure }, 'Nova could not be asked; the samples go on')
    return status
  }
  const newest = newestOf(asked.value)
  if (!newest || newest.type === 'evacuation' || isEarlier(newest, status)) return status
  if (status.novaMigrationId === String(newest.id) && status.destination === (newest.target ?? undefined)) return status
  return withRecord({ ...status, novaMigrationId: String(newest.id) }, newest, await evictionOf(server, deps), deps.clock())
}

const newestOf = (records: readonly MoveRecord[]): MoveRecord | undefined => records.toSorted((a, b) => b.id - a.id)[0]

async function evictionOf(server: string, { kube }: Deps): Promise<Status['evictionRef']> {
  const { items } = await kube.list(Eviction)
  const found = items.find(({ status }) => status?.instances?.some(({ id }) => id === server))
  return found && { name: found.metadata.name, ...(found.metadata.uid && { uid: found.metadata.uid }) }
}

/** HV-17: the server drops a status on create, so that the object comes first. */
async function write(name: string, status: Status, live: Migration | undefined, { kube, namespace }: Deps): Promise<void> {
  const object = live ?? (await kube.apply(Migration, { metadata: { name, namespace }, spec: {} }))
  // the first time what earlier writers left is taken over (HV-5), which makes a version of its own
  const resourceVersion = appliedBy(object, manager, 'status') && object.metadata.resourceVersion
  const metadata = { name, namespace, ...(resourceVersion && { resourceVersion }) }
  await kube.applyStatus(Migration, { metadata, status }, { live: object })
}

/** The back-stop: moves that agents stopped telling of, and cold moves, of which none tells. */
export async function sweep(speed: 'fast' | 'slow', deps: Deps): Promise<void> {
  const { kube, namespace, clock } = deps
  const nowMs = clock().getTime()
  const { items } = await kube.list(Migration, { namespace })
  const byName = new Map(items.map(item => [item.metadata.name, item]))
  const { items: evictions } = await kube.list(Eviction)
  const moving = evictions.flatMap(({ metadata, status }) =>
    (status?.instances ?? [])
      .filter(({ state }) => state === 'Migrating' || state === 'Confirming' || state === 'Queued')
      .map(({ id }) => ({
        id,
        since: status?.startedAt,
        ref: { name: metadata.name, ...(metadata.uid && { uid: metadata.uid }) }
      }))
  )
  const unheard = moving.filter(({ id }) => !isOver(byName.get(id)?.status) && byName.get(id)?.status?.stats === undefined)
  // what ended only by Nova's record, as cold moves do
  const unended = items.flatMap(({ metadata, status }) =>
    status && !isOver(status) && status.stats === undefined && !moving.some(({ id }) => id === metadata.name)
      ? [{ id: metadata.name, ref: status.evictionRef, since: status.started }]
      : []
  )
  const newest = await newestSince([...unheard, ...unended], deps)
  const each = [...unheard, ...unended].map(({ id, ref }) => async () => {
    const record = newest.get(id)
    const live = byName.get(id)
    if (record) await write(id, withRecord(live?.status, record, ref, deps.clock()), live, deps)
  })
  const silent = items.map(item => async () => {
    if (item.status && isSilent(item.status, nowMs)) await endSilent(item, item.status, deps)
  })
  const old = items.map(({ metadata, status }) => async () => {
    if (speed === 'slow' && status && isOld(status, nowMs))
      await kube.delete(Migration, { name: metadata.name, namespace, uid: metadata.uid })
  })
  await all([...each, ...silent, ...old])
}

/** One that cannot be written holds up none of the others. */
async function all(works: ReadonlyArray<() => Promise<void>>): Promise<void> {
  const failures: unknown[] = []
  for (const work of works) await work().catch((err: unknown) => failures.push(err))
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} Migrations could not be written`)
}

const skewMs = 120_000 // Nova's clock is not ours

/** One list for all of them (EV-14: no call for each server); empty when Nova cannot be asked. */
async function newestSince(
  wanted: ReadonlyArray<{ since: string | undefined }>,
  { cloud, clock }: Deps
): Promise<Map<string, MoveRecord>> {
  if (wanted.length === 0) return new Map()
  const sinceMs = Math.min(...wanted.map(({ since }) => (since === undefined ? clock().getTime() : Date.parse(since)))) - skewMs
  const listed = await attempt(() => cloud.migrations.list({ changesSince: new Date(sinceMs).toISOString() }))
  return new Map((listed.ok ? listed.value : []).toSorted((a, b) => a.id - b.id).map(record => [record.server, record]))
}

/** Nobody tells of it any more: Nova's record has the last word, if it has one. */
async function endSilent(item: Migration, status: Status, deps: Deps): Promise<void> {
  const { cloud, clock } = deps
  const { name } = item.metadata
  const records = await attempt(() => cloud.migrations.list({ server: name }))
  if (!records.ok) return
  const newest = newestOf(records.value)
  const after = newest ? withRecord(status, newest, status.evictionRef, clock()) : lost(status, clock())
  await write(name, isOver(after) ? after : lost(after, clock()), item, deps)
}
