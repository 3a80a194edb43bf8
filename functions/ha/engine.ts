// Hosts as Kubernetes has them: what is heard waits for the next look at its host, one look at a time, and what was decided is written before it is done.
import type { Kube } from '../../shared/kube/connect.ts'
import { KubeError } from '../../shared/kube/errors.ts'
import { historyAfter, tellActions } from '../../shared/openstack/audit.ts'
import { Crowded } from '../../shared/runtime/key-lock.ts'
import { lookAgain } from '../../shared/runtime/look-again.ts'
import type { Platform } from '../../shared/runtime/function.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { act, type Hands, type Outcome } from './act.ts'
import { notSent } from './attempts.ts'
import { decide, incidentsOf, saysMore, type Step } from './decide.ts'
import { fleetHost, type Fleet } from './fleet.ts'
import { iso, ms } from './incident.ts'
import { look, lookAgainAt, type Eyes } from './look.ts'
import type { Measure } from './metrics.ts'
import type { Heard } from './heard.ts'
import { manager } from './scheduling.ts'
import type { Ha, Incident, Seen } from './seen.ts'
import { newsTeller } from './tell.ts'
import { turns } from './turns.ts'

export interface EngineDeps extends Omit<Eyes, 'fleet'>, Omit<Hands, 'kube' | 'cloud' | 'listings'>, Pick<Platform, 'emit'> {
  kube: Kube
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
/** A page is held in memory whole. */
const pageSize = 40
const races = 8
const longestMs = 330_000
const failedMs = 5000
const fleetAgeMs = 1000

export function createEngine(deps: EngineDeps): Engine {
  const { kube, clock, log, measure } = deps
  const inbox = new Map<string, Heard[]>()
  let waiting = 0
  const teller = newsTeller(deps)
  const [toRecord, toAct] = [turns(recordedAtOnce), turns(lookedAtAtOnce)]
  const eyes: Eyes = { ...deps, fleet: fleetReader(kube, () => clock().getTime()) }
  const nowMs = (): number => clock().getTime()

  function take(host: string): Heard[] {
    const heard = inbox.get(host) ?? []
    inbox.delete(host)
    waiting -= heard.length
    measure.waiting(waiting)
    return heard
  }

  /** HA-17: what is heard is written down without waiting for Nova, and so behind nobody who does. */
  async function record(host: string): Promise<undefined> {
    const heard = take(host)
    const next = await toRecord(async () => settled(host, await look(host, heard, nowMs(), eyes, { nova: false })))
    if (next !== undefined) acting.soon(host, next)
  }

  const run = (host: string): Promise<number | undefined> => toAct(async () => settled(host, await look(host, [], nowMs(), eyes)))

  async function settled(host: string, given: Seen | undefined): Promise<number | undefined> {
    let seen = given
    for (let race = 1; seen; race++) {
      const step = decide(seen, nowMs())
      const before = seen.hypervisor.status?.ha
      // a hint that brought no news is not written, only followed
      const ha = before && !seen.nova && !saysMore(before, step.ha) ? before : step.ha
      const written = await write(seen, { ha })
      if (written) return carryOut(written, step)
      if (race === races) throw new Error(`${host} was written by others ${races} times in a row`)
      seen = await lookAgainAt(seen, deps)
    }
    return undefined // there is no such host (any more)
  }

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
      return { ...seen, hypervisor: { ...live, spec: live.spec ?? {} } }
    } catch (err) {
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
    let current: Seen | undefined = seen
    for (let race = 1; current && race <= races; race++) {
      const { hypervisor } = current
      const ha = withOutcomes(hypervisor.status?.ha ?? {}, outcomes, nowMs())
      if (await write(current, { ha, history: historyAfter(hypervisor.status?.history, manager, actions, clock()) })) break
      current = await lookAgainAt(current, deps)
    }
    await tellActions(seen.hypervisor, manager, actions, deps)
  }

  const recording = lookAgain({ look: record, log, longestMs })
  const acting = lookAgain({ look: run, log, longestMs })

  return {
    async hear(host, heard) {
      if (!deps.extended) return // HV-4: there is no place to write it down, and nothing is done that is not
      if (waiting + heard.length > mostWaiting) throw new Crowded(`${waiting} events are waiting already`)
      waiting += heard.length
      measure.waiting(waiting)
      const queue = inbox.get(host)
      if (queue) queue.push(...heard)
      else if (heard.length > 0) inbox.set(host, [...heard])
      await recording.now(host)
    },
    async sweep(all) {
      if (!deps.extended) return
      const due: string[] = []
      const now = nowMs()
      const policy = await deps.policy()
      for await (const page of kube.pages(Hypervisor, { pageSize }))
        for (const hypervisor of page) if (all || isOpen(hypervisor, policy, now)) due.push(hypervisor.metadata.name)
      const results = await Promise.allSettled(due.map(host => acting.now(host)))
      const failures = results.flatMap(result => (result.status === 'rejected' ? [result.reason as unknown] : []))
      if (failures.length > 0)
        throw new AggregateError(failures, `${failures.length} of ${due.length} hosts could not be looked at`)
    },
    seen: host => look(host, [], nowMs(), eyes),
    async close() {
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

function withOutcomes(ha: Ha, outcomes: readonly Outcome[], nowMs: number): Ha {
  const failed = new Map(
    outcomes.flatMap(({ call, problem, refused, unsent }) =>
      'server' in call && problem && (refused || unsent)
        ? [[call.server, { call, words: `${refused ? 'refused' : notSent}: ${problem}`.slice(0, 512) }]]
        : []
    )
  )
  if (failed.size === 0) return ha
  const note = (incident: Incident): Incident => {
    const one = failed.get(incident.server)
    const last = incident.attempts?.at(-1)
    if (!one || !last || last.at !== iso(one.call.atMs) || last.outcome !== undefined) return incident
    const attempts = [...(incident.attempts ?? []).slice(0, -1), { ...last, outcome: one.words }]
    return { ...incident, attempts, nextCheckAt: iso(nowMs + failedMs) }
  }
  return { ...ha, incidents: (ha.incidents ?? []).map(note) }
}

function fleetReader(kube: Kube, nowMs: () => number): () => Promise<Fleet> {
  let known: { atMs: number; answer: Promise<Fleet> } | undefined
  const read = async (): Promise<Fleet> => {
    const hosts: Fleet[number][] = []
    for await (const page of kube.pages(Hypervisor, { pageSize })) hosts.push(...page.map(fleetHost))
    return hosts
  }
  return () => {
    if (known && nowMs() - known.atMs < fleetAgeMs) return known.answer
    const asked = { atMs: nowMs(), answer: read() }
    known = asked
    asked.answer.catch(() => {
      if (known === asked) known = undefined
    })
    return asked.answer
  }
}
