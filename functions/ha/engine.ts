// Hosts as Kubernetes has them: what is heard waits for the next look at its host, one look at a time, and what was decided is written before it is done.
import type { Kube } from '../../shared/kube/connect.ts'
import type { KeptList } from '../../shared/kube/kept-list.ts'
import { KubeError } from '../../shared/kube/errors.ts'
import { historyAfter, tellActions } from '../../shared/openstack/audit.ts'
import { Crowded, keyLock } from '../../shared/runtime/key-lock.ts'
import { lookAgain } from '../../shared/runtime/look-again.ts'
import type { Platform } from '../../shared/runtime/function.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { act, type Hands, type Outcome } from './act.ts'
import { decide, incidentsOf, saysMore, type Step } from './decide.ts'
import { fleetReader } from './fleet-reader.ts'
import { ms } from './incident.ts'
import { look, lookAgainAt, type Eyes } from './look.ts'
import { gather } from './gather.ts'
import { failedMs, withOutcomes } from './outcomes.ts'
import { newest, type Began } from './newest.ts'
import type { Measure } from './metrics.ts'
import type { Heard } from './heard.ts'
import { manager } from './scheduling.ts'
import type { Ha, Parts, Seen } from './seen.ts'
import { newsTeller } from './tell.ts'
import { turns } from './turns.ts'

export interface EngineDeps extends Omit<Eyes, 'fleet'>, Omit<Hands, 'kube' | 'cloud' | 'listings'>, Pick<Platform, 'emit'> {
  kube: Kube
  /** all of them, each in outline */
  hosts: KeptList<Hypervisor>
  measure: Measure
  /** HV-4 */
  extended: boolean
}

export interface Engine {
  /** Resolves when it is written down. */
  hear(host: string, heard: readonly Heard[]): Promise<void>
  /** Of all hosts, those that time alone may move on; or all. */
  sweep(all: boolean): Promise<void>
  seen(host: string): Promise<Seen | undefined>
  close(): Promise<void>
}

/** Of all hosts together: a broker that retries is a better queue than this process's memory (HA-17). */
const mostWaiting = 10_000
/** A host is held in memory whole while it is looked at, whoever is waited for. */
const recordedAtOnce = 10
const lookedAtAtOnce = 10
const races = 8
/** Between two looks of the same kind at one host; the first comes at once. */
const gapMs = 300
const longestMs = 330_000

export function createEngine(deps: EngineDeps): Engine {
  const { kube, hosts, clock, log, measure } = deps
  const inbox = new Map<string, Heard[]>()
  /** of these something changed that no event tells whole */
  const hinted = new Set<string>()
  let waiting = 0
  const teller = newsTeller(deps)
  const [toRecord, toAct] = [turns(recordedAtOnce), turns(lookedAtAtOnce)]
  const eyes: Eyes = { ...deps, fleet: fleetReader(hosts, () => clock().getTime()) }
  const nowMs = (): number => clock().getTime()
  const known = newest(nowMs)
  /** when a host was last looked at to act, by this process's own clock */
  const acted = new Map<string, number>()
  const writing = keyLock({ maxWaiting: Number.POSITIVE_INFINITY }) // at most the looks, and they are few

  function take(host: string): Heard[] {
    const heard = inbox.get(host) ?? []
    inbox.delete(host)
    waiting -= heard.length
    measure.waiting(waiting)
    return heard
  }

  /** HA-17: what is heard is written down without waiting for Nova, and so behind nobody who does. */
  async function record(host: string): Promise<undefined> {
    const afresh = hinted.delete(host)
    const heard = take(host)
    const next = await toRecord(() => {
      const parts = afresh ? undefined : known.recent(host)
      const looked = (parts?: Parts): Promise<Seen | undefined> => look(host, heard, nowMs(), eyes, { nova: false, parts })
      return settled(host, parts ? () => looked(parts) : reading(host, looked), reading(host, looked))
    })
    if (next !== undefined) acting.soon(host, Math.max(next, (acted.get(host) ?? -gapMs) + gapMs - performance.now()))
  }

  async function run(host: string): Promise<number | undefined> {
    acted.set(host, performance.now())
    const looked = reading(host, () => look(host, [], nowMs(), eyes))
    const next = await toAct(() => settled(host, looked, seen => lookAgainAt(seen, deps)))
    return next === undefined ? undefined : Math.max(next, gapMs)
  }

  const reading = (host: string, looked: () => Promise<Seen | undefined>) => async (): Promise<Seen | undefined> => {
    const began = known.now()
    const seen = await looked()
    if (seen) known.read(host, seen, began)
    return seen
  }

  /** What was decided and written is done; if somebody else wrote first, it is decided anew. */
  async function settled(
    host: string,
    first: () => Promise<Seen | undefined>,
    again: (seen: Seen) => Promise<Seen | undefined>
  ): Promise<number | undefined> {
    let began = known.now()
    let seen = await first()
    for (let race = 1; seen; race++) {
      const done = await decided(host, seen, began)
      if (done) return carryOut(done.written, done.step)
      if (race === races) throw new Error(`${host} was written by others ${races} times in a row`)
      began = known.now()
      seen = await again(seen)
    }
    return undefined // there is no such host (any more)
  }

  const decided = (host: string, read: Seen, began: Began): Promise<{ written: Seen; step: Step } | undefined> =>
    writing(host, async () => {
      const seen = known.over(host, read, began)
      const step = decide(seen, nowMs())
      const before = seen.hypervisor.status?.ha
      // a hint that brought no news is not written, only followed
      const ha = before && !seen.nova && !saysMore(before, step.ha) ? before : step.ha
      const written = await write(seen, { ha })
      return written && { written, step }
    })

  /** Undefined: somebody else wrote first, and what they wrote may change the decision. */
  async function write(seen: Seen, status: { ha: Ha; history?: ReturnType<typeof historyAfter> }): Promise<Seen | undefined> {
    const { hypervisor } = seen
    const { name, resourceVersion } = hypervisor.metadata
    const lines = status.history ?? historyAfter(hypervisor.status?.history, manager, [], clock())
    const own = { ha: status.ha, ...(lines.length > 0 && { history: lines }) }
    try {
      const live = await kube.applyStatus(
        Hypervisor,
        { metadata: { name, ...(resourceVersion && { resourceVersion }) }, status: own },
        { live: hypervisor }
      )
      const written = { ...seen, hypervisor: { ...live, spec: live.spec ?? {} } }
      if (live !== hypervisor) known.written(name, written)
      return written
    } catch (err) {
      known.forget(name)
      if (err instanceof KubeError && err.code === 'Conflict') return undefined
      throw err
    }
  }

  async function carryOut(seen: Seen, step: Step): Promise<number | undefined> {
    const { hypervisor } = seen
    measure.decided(hypervisor.metadata.name, step)
    const outcomes = step.calls.length > 0 ? await act(seen, step.calls, deps) : []
    if (outcomes.length > 0) await settle(seen, outcomes)
    teller.tell(hypervisor, step.news)
    const failed = outcomes.some(({ problem }) => problem !== undefined)
    return failed ? Math.min(step.nextCheckMs ?? failedMs, failedMs) : step.nextCheckMs
  }

  /** What Nova said to it. If this is not written, the next look finds it out from Nova's own record. */
  async function settle(seen: Seen, outcomes: readonly Outcome[]): Promise<void> {
    const actions = outcomes.flatMap(({ action }) => action ?? [])
    const { name } = seen.hypervisor.metadata
    let began: Began = { turn: 0, atMs: 0 } // whatever was written here since
    let current: Seen | undefined = seen
    for (let race = 1; current && race <= races; race++) {
      const read = current
      const written = await writing(name, () => {
        const { hypervisor, ...rest } = known.over(name, read, began)
        const ha = withOutcomes(hypervisor.status?.ha ?? {}, outcomes, nowMs())
        const history = historyAfter(hypervisor.status?.history, manager, actions, clock())
        return write({ ...rest, hypervisor }, { ha, history })
      })
      if (written) break
      began = known.now()
      current = await lookAgainAt(read, deps)
    }
    await tellActions(seen.hypervisor, manager, actions, deps)
  }

  const recording = lookAgain({ look: record, log, longestMs })
  const gathered = gather<Heard>(gapMs, (host, heard) => {
    const queue = inbox.get(host)
    if (queue) queue.push(...heard)
    else inbox.set(host, [...heard])
    return recording.now(host)
  })
  const acting = lookAgain({ look: run, log, longestMs })

  return {
    async hear(host, heard) {
      if (!deps.extended) return // HV-4: there is no place to write it down, and nothing is done that is not
      if (waiting + heard.length > mostWaiting) throw new Crowded(`${waiting} events are waiting already`)
      waiting += heard.length
      measure.waiting(waiting)
      if (heard.length > 0) return gathered.add(host, heard)
      hinted.add(host)
      gathered.flush(host)
      await recording.now(host)
    },
    async sweep(all) {
      if (!deps.extended) return
      const now = nowMs()
      const policy = await deps.policy()
      const found = (await hosts.all()).filter(hypervisor => all || isOpen(hypervisor, policy, now))
      const due = found.map(({ metadata }) => metadata.name)
      const results = await Promise.allSettled(due.map(host => acting.now(host)))
      const failures = results.flatMap(result => (result.status === 'rejected' ? [result.reason as unknown] : []))
      if (failures.length > 0)
        throw new AggregateError(failures, `${failures.length} of ${due.length} hosts could not be looked at`)
    },
    seen: host => look(host, [], nowMs(), eyes),
    async close() {
      gathered.close()
      await recording.close()
      await acting.close()
      await teller.close()
    }
  }
}

/** Whether time alone may move it on, or the agent shows what no event told of. */
export function isOpen(hypervisor: Hypervisor, policy: Seen['policy'], nowMs: number): boolean {
  const { nextCheckAt, incidents = [] } = hypervisor.status?.ha ?? {}
  if (nextCheckAt !== undefined && ms(nextCheckAt) <= nowMs) return true
  const nothing = {
    nova: false,
    askedMs: nowMs,
    ovsNode: undefined,
    node: undefined,
    heard: [],
    evidence: new Map(),
    outage: undefined,
    service: undefined
  }
  const seen: Seen = { ...nothing, hypervisor, eviction: undefined, fleet: [], policy, observed: false }
  return incidentsOf(seen, nowMs).some(
    ({ server, decisionId }) => !incidents.some(one => one.server === server && one.decisionId === decisionId)
  )
}
