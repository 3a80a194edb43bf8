// Evictions as Kubernetes has them: which are open, one pass over one of them, and what is written and told of it.
import { isDeepStrictEqual } from 'node:util'
import type { Kube } from '../../shared/kube/index.ts'
import { KubeError } from '../../shared/kube/errors.ts'
import type { Platform } from '../../shared/runtime/function.ts'
import { Eviction } from '../../shared/schema/eviction.ts'
import { Migration } from '../../shared/schema/migration.ts'
import { isFinal } from './decide.ts'
import type { Progress } from './eta.ts'
import { createFollower, type Followed, type Follower } from './follow.ts'
import type { Measure } from './metrics.ts'
import { pass, type Passed, type PassDeps } from './pass.ts'
import { zoneOf } from './plan.ts'
import type { Entry, Peer, Status } from './seen.ts'
import { olderCrd } from './older-crd.ts'
import { skewMs } from './step.ts'
import { newsOf, type News } from './tell.ts'
import { withFacts } from './together.ts'

export interface EngineDeps extends Omit<PassDeps, 'kube' | 'log' | 'claim'>, Pick<Platform, 'emit' | 'log'> {
  kube: Kube
  measure: Measure
  migrationNamespace: string
  /** HV-4: whether the installed CRD knows Drover's own fields */
  extended: boolean
}

export interface Engine extends Follower {
  /** open Evictions, from a list that may be a second old: agents tell of every domain, and most are nobody's business here */
  open(alsoSucceeded?: boolean): Promise<readonly Eviction[]>
}

const listAgeMs = 1000
const inFlight = new Set<Entry['state']>(['Queued', 'Migrating', 'Confirming'])

export function createEngine(deps: EngineDeps): Engine {
  const { kube, clock, log } = deps
  let listed: { atMs: number; all: Promise<Eviction[]> } | undefined
  const telling = new Set<Promise<unknown>>()
  const older = deps.extended ? undefined : olderCrd()
  const recall = (eviction: Eviction): Eviction => older?.recall(eviction) ?? eviction

  async function open(alsoSucceeded = false): Promise<readonly Eviction[]> {
    const nowMs = clock().getTime()
    if (!listed || nowMs - listed.atMs >= listAgeMs) {
      const asked = { atMs: nowMs, all: kube.list(Eviction).then(({ items }) => items.filter(isWhole).map(recall)) }
      listed = asked
      asked.all.catch(() => {
        if (listed === asked) listed = undefined
      })
    }
    // HV-46: a host that was called empty is looked at again from time to time
    return (await listed.all).filter(
      eviction => !isFinal(eviction) || (alsoSucceeded && eviction.status?.verdict === 'Succeeded')
    )
  }

  async function run(name: string): Promise<Followed> {
    const live = await kube.find(Eviction, name)
    if (!live || !isWhole(live)) return nothingToDo // EV-25: a deleted one starts nothing more
    const eviction = recall(live)
    if (isFinal(eviction) && eviction.status?.verdict !== 'Succeeded') return nothingToDo
    let latest = live
    const claim = async (status: Status): Promise<boolean> => {
      try {
        latest = await write(latest, status)
        return true
      } catch (err) {
        if (isConflict(err)) return false
        throw err
      }
    }
    const given = { ...deps, claim, ...(await figuresOf(eviction)) }
    const passed = await pass(eviction, await peersOf(name), given)
    if (passed.superseded) return { ...nothingToDo, nextCheckMs: passed.nextCheckMs }
    const same = isFinal(eviction) && passed.status.verdict === eviction.status?.verdict
    if (same) return nothingToDo
    const stored = await store(latest, passed)
    if (!stored) return nothingToDo
    listed = undefined
    const { after, newer } = stored
    const before = newer ?? eviction
    deps.measure(eviction.spec.hypervisor, before.status, after, clock())
    tellAll(eviction, newsOf(before, after))
    const moving = new Set((after.instances ?? []).filter(({ state }) => inFlight.has(state)).map(({ id }) => id))
    const nextCheckMs = newer ? 0 : passed.nextCheckMs
    return { moving, nextCheckMs: after.verdict === undefined ? nextCheckMs : undefined, reserve: passed.reserve }
  }

  /** The version is named: a process that was held up does not write over what another has seen since. */
  const write = (live: Eviction, status: Status): Promise<Eviction> => {
    const { name, resourceVersion } = live.metadata
    const metadata = { name, ...(resourceVersion && { resourceVersion }) }
    return kube.applyStatus(Eviction, { metadata, status: older?.keep(live, status) ?? status }, { live })
  }

  /** Undefined: the Eviction is gone. */
  async function store(live: Eviction, { status, acted }: Passed): Promise<Stored | undefined> {
    let [before, after, overtaken] = [live, status, false]
    for (let race = 1; ; race++) {
      try {
        await write(before, after)
        return { after, ...(overtaken && { newer: recall(before) }) }
      } catch (err) {
        const now = await kube.find(Eviction, live.metadata.name)
        if (!now || now.metadata.uid !== live.metadata.uid) return undefined
        if (!isConflict(err) || race === races) throw err
        // who only changed the order has seen nothing of Nova; an older CRD has no room for what another process saw
        if (!older && !isDeepStrictEqual(now.status, before.status))
          [after, overtaken] = [withFacts(now.status ?? {}, status, acted), true]
        before = now
      }
    }
  }

  /** Other open Evictions. A list that does not know this one yet may lack one that is older. */
  async function peersOf(name: string): Promise<Peer[]> {
    const isListed = (all: readonly Eviction[]) => all.some(({ metadata }) => metadata.name === name)
    if (!isListed(await open(true))) listed = undefined
    return (await open()).filter(({ metadata, spec }) => metadata.name !== name && !spec.dryRun).map(peerOf)
  }

  /** The status is the record; who listens must not hold up a drain. */
  function tellAll(eviction: Eviction, { events, happenings }: News): void {
    const about = { ...eviction, apiVersion: 'kvm.cloud.sap/v1', kind: 'Eviction' }
    const all = [...events.map(event => deps.emit(event)), ...happenings.map(happening => kube.event(about, happening))]
    for (const one of all) {
      const told = one.catch((err: unknown) => log.warn({ err, eviction: eviction.metadata.name }, 'could not be told'))
      telling.add(told)
      void told.finally(() => telling.delete(told))
    }
  }

  /** EV-26: what the agents say of moves under way, and of those that have just ended. */
  async function figuresOf({ status }: Eviction): Promise<Figures> {
    const { instances = [], startedAt = '' } = status ?? {}
    const recentMs = clock().getTime() - figuresLateMs
    const isRecent = ({ bytes, finishedAt = '' }: Entry) => bytes === undefined && Date.parse(finishedAt) >= recentMs
    const asked = new Set(
      instances.filter(entry => inFlight.has(entry.state) || (entry.state === 'Done' && isRecent(entry))).map(({ id }) => id)
    )
    if (asked.size === 0) return { progress: new Map(), copied: new Map() }
    const { items } = await kube.list(Migration, { namespace: deps.migrationNamespace })
    const ours = items.flatMap(({ metadata, status }) =>
      status && asked.has(metadata.name) && Date.parse(status.started) >= Date.parse(startedAt) - skewMs
        ? [{ id: metadata.name, ...status }]
        : []
    )
    return {
      progress: new Map(ours.flatMap(({ id, phase, stats }) => (phase === 'Running' ? [[id, toProgress(stats)]] : []))),
      copied: new Map(ours.flatMap(({ id, stats }) => (stats?.dataProcessed === undefined ? [] : [[id, stats.dataProcessed]])))
    }
  }

  const follower = createFollower({ run, log })
  return {
    ...follower,
    open,
    async close() {
      await follower.close()
      await Promise.allSettled(telling)
    }
  }
}

interface Stored {
  after: Status
  /** what another process wrote since this one looked */
  newer?: Eviction
}

interface Figures {
  progress: ReadonlyMap<string, Progress>
  copied: ReadonlyMap<string, number>
}

const figuresLateMs = 60_000
const races = 5

/** Somebody else was first. */
const isConflict = (err: unknown): boolean => err instanceof KubeError && err.code === 'Conflict'

const nothingToDo: Followed = { moving: new Set(), nextCheckMs: undefined, reserve: 0 }

/** The CRD in use takes an object without a spec; there is nothing to empty then. */
const isWhole = ({ spec }: Eviction): boolean => Boolean(spec?.hypervisor)

export const peerOf = ({ metadata, spec, status }: Eviction): Peer => ({
  name: metadata.name,
  hypervisor: spec.hypervisor,
  mode: spec.mode ?? 'drain',
  created: metadata.creationTimestamp ?? '',
  zone: zoneOf({ metadata }),
  destinations: (status?.instances ?? [])
    .filter(({ state }) => state === 'Queued' || state === 'Migrating')
    .map(({ destination }) => destination)
})

const toProgress = (
  stats: { dataRemaining?: number; memBps?: number; memDirtyRate?: number; memPageSize?: number } = {}
): Progress => ({
  remaining: stats.dataRemaining ?? 0,
  bytesPerSecond: stats.memBps ?? 0,
  dirtyBytesPerSecond: (stats.memDirtyRate ?? 0) * (stats.memPageSize ?? 4096)
})
