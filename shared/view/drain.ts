import type { Eviction } from '../schema/eviction.ts'
import { plural, span } from './time.ts'
import type { DrainView, Tone } from './types.ts'

type Instance = NonNullable<NonNullable<Eviction['status']>['instances']>[number]

export const isOver = ({ status }: Eviction): boolean => status?.finishedAt !== undefined || status?.verdict !== undefined

/** Of several Evictions of a host the one that runs, else the newest. One that only plans moves nothing. */
export function evictionOf(host: string, evictions: readonly Eviction[]): Eviction | undefined {
  const own = evictions.filter(({ spec }) => spec?.hypervisor === host && !spec.dryRun)
  const age = ({ metadata }: Eviction) => metadata.creationTimestamp ?? ''
  const byAge = own.toSorted((a, b) => age(b).localeCompare(age(a)))
  return byAge.find(eviction => !isOver(eviction)) ?? byAge[0]
}

const isMoving = ({ state }: Instance): boolean => state === 'Migrating' || state === 'Confirming'

/** The VMs of a drain that move just now. */
export const movesUnderWay = (eviction: Eviction | undefined): Instance[] =>
  eviction && !isOver(eviction) && !eviction.spec?.dryRun ? (eviction.status?.instances ?? []).filter(isMoving) : []

/** Where the VMs of a drain go just now. */
export const destinationsOf = (eviction: Eviction | undefined): string[] =>
  movesUnderWay(eviction).flatMap(({ destination }) => destination ?? [])

const movingLine = ({ name, id, destination }: Instance): string =>
  destination ? `${name ?? id} → ${destination}` : (name ?? id)

function lineOf(
  instances: readonly Instance[],
  { running, waiting, blocked }: DrainView,
  waitingFor: string | undefined
): string {
  const moving = instances.filter(isMoving).slice(0, 3)
  const parts = [
    running > 0 && `${running} moving${moving.length > 0 ? ` (${moving.map(movingLine).join(', ')})` : ''}`,
    waiting > 0 && `${waiting} waiting`,
    blocked > 0 && `${blocked} cannot move`,
    waitingFor && `waits for ${waitingFor}`
  ]
  return parts.filter(Boolean).join(', ')
}

function toneOf({ status }: Eviction, blocked: number): Tone {
  if (status?.verdict === 'Succeeded' || status?.verdict === 'Planned') return 'ok'
  if (status?.verdict === 'Cancelled') return 'rest'
  if (status?.verdict !== undefined || blocked > 0) return 'bad'
  return 'busy'
}

/** `3 min`; empty when nobody can say, or it should have been over by now. */
export function timeLeft(eta: string | undefined, now: Date): string {
  const ms = eta === undefined ? -1 : Date.parse(eta) - now.getTime()
  return ms > 0 ? span(ms) : ''
}

function wordOf({ status }: Eviction, done: number, total: number, now: Date): string {
  if (status?.verdict) return status.verdict
  const left = timeLeft(status?.eta, now)
  return total === 0 ? (status?.phase ?? 'Starting') : `${done} of ${total}${left && ` · about ${left}`}`
}

export function drainOf(eviction: Eviction, now: Date): DrainView {
  const { status, spec, metadata } = eviction
  const { total = 0, done = 0, running = 0, waiting = 0, failed = 0, blocked: stuck = 0, excluded = 0 } = status?.progress ?? {}
  const blocked = failed + stuck
  const view: DrainView = {
    eviction: metadata.name,
    host: spec?.hypervisor ?? '',
    tone: toneOf(eviction, blocked),
    word: wordOf(eviction, done, total, now),
    total,
    done,
    running,
    waiting,
    blocked,
    percent: total === 0 ? (isOver(eviction) ? 100 : 0) : Math.round((100 * (done + excluded)) / total),
    line: '',
    ...(status?.eta !== undefined && { eta: status.eta })
  }
  return { ...view, line: lineOf(status?.instances ?? [], view, status?.waitingFor) }
}

/** Why a drain cannot end by itself, or undefined. */
export function drainNeedsPerson({ status }: Eviction): string | undefined {
  if (status?.verdict === 'Succeeded' || status?.verdict === 'Cancelled' || status?.verdict === 'Planned') return undefined
  const stuck = status?.instances?.filter(({ state }) => state === 'Blocked' || state === 'Failed') ?? []
  const [first] = stuck
  if (!first) return undefined
  const of = status?.progress?.total ?? status?.instances?.length ?? stuck.length
  const why = first.message ?? first.reason ?? first.state
  return `${stuck.length} of ${plural(of, 'VM')} cannot move: ${first.name ?? first.id}: ${why}`
}
