// One server in one pass: what Nova shows now, joined with what the status remembers of it. Pure.
import type { Server } from 'openstack-sdk-lite'
import { classify, classifyDead, type Action, type Circumstances } from './classify.ts'
import { isExcluded } from './excluded.ts'
import { countedOf, iso, movable, watch } from './moves.ts'
import { beganMs, departure, type MoveRecord } from './records.ts'
import type { Call, Entry, Options, Seen } from './seen.ts'

export interface Judged {
  entry: Entry
  server: Server | undefined
  /** on the host, as far as anybody knows */
  here: boolean
  /** it may be moved now */
  candidate?: 'live' | 'cold' | 'evacuate'
  /** what is to be asked of Nova for it besides a move */
  call?: Call
  /** when time alone changes what is said of it */
  dueMs?: number
}

export interface Scene {
  host: string
  nowMs: number
  /** records that began before this belong to others */
  sinceMs: number
  lastSuccessMs: number
  lastFullMs: number
}

export function judge(
  id: string,
  server: Server | undefined,
  before: Entry | undefined,
  records: readonly MoveRecord[],
  seen: Seen,
  scene: Scene,
  options: Options
): Judged {
  const { spec } = seen.eviction
  const ours = records.filter(record => beganMs(record) >= scene.sinceMs)
  const around: Circumstances = {
    host: scene.host,
    nowMs: scene.nowMs,
    strategy: spec.strategy ?? 'auto',
    policy: options.policy,
    excluded: server?.host === scene.host && isExcluded(server, spec.exclude ?? []),
    domain: domainOf(id, seen),
    records
  }
  const action = spec.mode === 'evacuate' ? classifyDead(server, around) : classify(server, around)
  const name = server?.name ?? before?.name
  const base: Entry = {
    id,
    ...(name && { name }),
    state: 'Waiting',
    ...(before?.strategy && { strategy: before.strategy }),
    attempts: before?.attempts ?? 0,
    ...(server?.flavor ? { ramMb: server.flavor.ramMiB } : before?.ramMb !== undefined && { ramMb: before.ramMb }),
    ...(before?.bytes !== undefined && { bytes: before.bytes }),
    ...(before?.startedAt && { startedAt: before.startedAt }),
    ...(before?.finishedAt && action.do !== 'watch' && { finishedAt: before.finishedAt }),
    ...(before?.migrationId && { migrationId: before.migrationId }),
    ...(before?.destination && { destination: before.destination }),
    ...(before?.refusals && { refusals: before.refusals })
  }
  const here = server?.host === scene.host || (server !== undefined && server.host === null && action.do === 'wait')
  const judged = (entry: Partial<Entry> & Pick<Entry, 'state'>, more: Partial<Judged> = {}): Judged => ({
    entry: { ...base, ...entry },
    server,
    here,
    ...more
  })
  return outcomeOf(id, action, before, ours, judged, seen, scene, options)
}

export type Say = (entry: Partial<Entry> & Pick<Entry, 'state'>, more?: Partial<Judged>) => Judged

function outcomeOf(
  id: string,
  action: Action,
  before: Entry | undefined,
  ours: readonly MoveRecord[],
  say: Say,
  seen: Seen,
  scene: Scene,
  options: Options
): Judged {
  const { nowMs } = scene
  const finishedAt = before?.state === 'Done' || before?.state === 'Gone' ? before.finishedAt : iso(nowMs)
  switch (action.do) {
    case 'gone':
      return say({ state: 'Gone', ...(finishedAt && { finishedAt }) })
    case 'excluded':
      return say({ state: 'Excluded', reason: 'Excluded' })
    case 'done':
      return done(id, action.destination, finishedAt, before, departure(ours, scene.host), say, seen)
    case 'blocked':
      return say({ state: 'Blocked', reason: action.reason, message: action.message })
    case 'failed':
      return say({ state: 'Failed', reason: action.reason, message: action.message })
    case 'wait':
      return say({
        state: action.reason === 'Settling' ? 'Confirming' : 'Waiting',
        reason: action.reason,
        message: action.message
      })
    case 'watch':
      return watch(action.record, before, say, seen, scene, options)
    case 'confirm':
      return confirming(id, before, say, nowMs)
    case 'live':
    case 'cold':
    case 'evacuate':
      return movable(action.do, before, departure(ours, scene.host), say, seen, scene, options)
    default:
      return say(
        {
          state: 'Waiting',
          reason: 'Prepared',
          message: prepared[action.do],
          ...(action.do === 'resume' && { strategy: 'resume' })
        },
        { call: { do: action.do, server: id } }
      )
  }
}

const prepared = {
  offload: 'It is shelved and gives up its place.',
  reset: 'Its last move left it in a wrong state, which is reset.',
  resume: 'It is resumed, so that it can be moved, and suspended afterwards.'
}

/** Row 10: what was resumed for the move is suspended again where it arrived. */
function done(
  id: string,
  destination: string | undefined,
  finishedAt: string | undefined,
  before: Entry | undefined,
  record: MoveRecord | undefined,
  say: Say,
  { copied }: Seen
): Judged {
  const bytes = copied.get(id)
  const judged = say({
    state: 'Done',
    ...(bytes !== undefined && { bytes }),
    ...(record && countedOf(before, record)),
    ...(destination && { destination }),
    ...(finishedAt && { finishedAt })
  })
  if (before?.strategy !== 'resume' || judged.server?.status !== 'ACTIVE') return judged
  return {
    ...judged,
    entry: { ...judged.entry, state: 'Confirming', reason: 'Prepared' },
    call: { do: 'suspend', server: before.id }
  }
}

function confirming(id: string, before: Entry | undefined, say: Say, nowMs: number): Judged {
  const confirmFailures = before?.confirmFailures ?? 0
  const state = {
    reason: 'Confirming',
    confirmFailures,
    ...(before?.message !== undefined && confirmFailures > 0 && { message: before.message })
  }
  if (confirmFailures >= 3) return say({ state: 'Failed', ...state, reason: 'ConfirmFailed' })
  const due = confirmFailures > 0 && before?.finishedAt ? Date.parse(before.finishedAt) + 5000 : 0
  if (due > nowMs) return say({ state: 'Confirming', ...state }, { dueMs: due })
  return say({ state: 'Confirming', ...state }, { call: { do: 'confirm', server: id } })
}

function domainOf(id: string, { hypervisor }: Seen): 'running' | 'stopped' | undefined {
  const found = hypervisor?.status?.instances?.find(instance => instance.id === id)
  return found && (found.active ? 'running' : 'stopped')
}
