import { tellActions, type Action } from '../../shared/openstack/audit.ts'
import type { Finding } from '../../shared/openstack/drift.ts'
import { attempt } from '../../shared/openstack/failure.ts'
import { isObserved, isStillAsked, type HostDeps } from '../../shared/openstack/host-function.ts'
import { resolveHost } from '../../shared/openstack/listings.ts'
import { tellDrift } from '../../shared/openstack/tell-drift.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import {
  desired,
  differences,
  driftIn,
  isEligible,
  manager,
  membership,
  plan,
  reflect,
  zoneOf,
  type Aggregate,
  type Desired,
  type Options,
  type Outcome,
  type Plan
} from './decide.ts'

export interface Deps extends HostDeps {
  options: Options
}

export async function settle(hypervisor: Hypervisor, deps: Deps): Promise<void> {
  if (!isEligible(hypervisor)) return
  const want = desired(hypervisor, deps.options)
  if (!want) return
  const outcome = await pursue(hypervisor, want, deps)
  if (!outcome) return // the event of the change, or the next tick, comes with the new spec
  const observed = isObserved(hypervisor, deps)
  const { conditions, aggregates, ...extra } = reflect(hypervisor, want, outcome, deps.clock(), deps.extended)
  const status = observed ? extra : { conditions, aggregates, ...extra } // HV-8: another operator's conditions stay its own
  await deps.kube.applyStatus(Hypervisor, { metadata: { name: hypervisor.metadata.name }, status }, { live: hypervisor })
  await tellDrift(hypervisor, outcome.findings, deps)
  await tellActions(hypervisor, manager, outcome.actions, deps)
}

async function pursue(hypervisor: Hypervisor, want: NonNullable<Desired>, deps: Deps): Promise<Outcome | undefined> {
  const none = { problems: [], findings: [], actions: [] }
  const looked = await attempt(async () => ({
    host: await resolveHost(hypervisor, deps.listings),
    all: await deps.listings.aggregates()
  }))
  if (!looked.ok) return { ...none, aggregates: undefined, problems: [looked.failure.words] }
  const { host, all } = looked.value
  if (host === undefined) return { ...none, aggregates: undefined, problems: ['Nova does not know the host by its id'] }
  if (want.names === undefined) return { ...none, aggregates: membership(host, all) }
  const { drift } = deps.options
  const seen = plan(want.names, host, all, deps.options)
  if (isObserved(hypervisor, deps)) {
    const findings = differences(seen, 'reported')
    return { ...none, aggregates: membership(host, all), problems: findings.map(leftSo), findings }
  }
  const findings = driftIn(hypervisor, seen, drift === 'repair' ? 'repaired' : 'reported')
  // AG-7: what is only reported is not touched; what the spec asks for meanwhile is done all the same
  const left = drift === 'report' ? findings : []
  const options = { ...deps.options, leave: left.map(({ name }) => name) }
  const actions: Action[] = []
  const doing: Doing = { ...deps, options, host, names: want.names, zone: zoneOf(hypervisor), reason: want.reason, did: actions }
  const todo = plan(want.names, host, all, options)
  if (todo.add.length + todo.remove.length > 0 && !(await isStillAsked(hypervisor, deps))) return undefined
  const { problems, shown } = await act(await whole(todo, doing), doing)
  return { aggregates: shown && membership(host, shown), problems: [...left.map(leftSo), ...problems], findings, actions }
}

const leftSo = ({ name, actual }: Finding): string => `${name}: ${actual}, left so`

/** One host on its way to what is wanted, and what was done for it so far. */
interface Doing extends Deps {
  host: string
  names: readonly string[]
  zone: string | undefined
  reason: string
  did: Action[]
}

/** AG-5: what is missing is made where the policy says so; an aggregate of the zone's name is the zone. */
async function whole(seen: Plan, { cloud, listings, options, host, names, zone, reason, did }: Doing): Promise<Plan> {
  if (options.missing !== 'create' || seen.missing.length === 0) return seen
  for (const name of seen.missing) {
    const made = await attempt(() => cloud.aggregates.create({ name, ...(name === zone && { zone }) }))
    if (made.ok) did.push({ kind: `aggregate ${name}`, from: 'absent', to: 'made', reason })
  }
  // also what was refused: somebody else may have made it at the same time
  const now = await attempt(() => listings.aggregates({ fresh: true }))
  return now.ok ? plan(names, host, now.value, options) : seen
}

/** Adds first, so that a filtering aggregate is never missing in between (AG-1). One failure does not stop the others (AG-6). */
async function act(
  { add, remove, missing, rezone }: Plan,
  doing: Doing
): Promise<{ problems: string[]; shown: readonly Aggregate[] | undefined }> {
  const { listings, options, names, host } = doing
  const absent = missing.map(name => `there is no aggregate ${name}`)
  const problems = rezone ? await changeZone(rezone, doing) : []
  for (const aggregate of add.filter(aggregate => aggregate !== rezone?.to)) problems.push(...(await join(aggregate, doing)))
  if (problems.length === 0 && remove.length > 0) {
    // AG-2: a listing that others share may be some seconds old, too old to take a host out of something
    const fresh = await attempt(() => listings.aggregates({ fresh: true }))
    if (!fresh.ok) return { problems: [...absent, fresh.failure.words], shown: undefined }
    for (const aggregate of plan(names, host, fresh.value, options).remove) problems.push(...(await leave(aggregate, doing)))
  }
  const shown = await attempt(() => listings.aggregates({ fresh: problems.length > 0 }))
  return { problems: [...absent, ...problems], shown: shown.ok ? shown.value : undefined }
}

const join = (aggregate: Aggregate, doing: Doing): Promise<string[]> =>
  change(() => doing.cloud.aggregates.addHost(aggregate.id, doing.host), aggregate, true, doing)

const leave = (aggregate: Aggregate, doing: Doing): Promise<string[]> =>
  change(() => doing.cloud.aggregates.removeHost(aggregate.id, doing.host), aggregate, false, doing)

/** The answer goes into the listing. What was refused may be as wanted all the same (AG-6): Nova is asked. */
async function change(
  run: () => Promise<Aggregate>,
  { id, name }: Aggregate,
  isMember: boolean,
  { listings, host, reason, did }: Doing
): Promise<string[]> {
  const done = await attempt(run)
  if (done.ok) {
    listings.noteMembership(done.value, host)
    const [from, to] = isMember ? ['not a member', 'member'] : ['member', 'not a member']
    did.push({ kind: `aggregate ${name}`, from, to, reason })
    return []
  }
  const now = await attempt(() => listings.aggregates({ fresh: true }))
  const isAsWanted = now.ok && isMember === membership(host, now.value).some(aggregate => aggregate.id === id)
  return isAsWanted ? [] : [done.failure.words]
}

/** AG-3: only a disabled and empty host changes its zone; when the new one refuses it, it goes back to the old one. */
async function changeZone({ from, to }: NonNullable<Plan['rezone']>, doing: Doing): Promise<string[]> {
  const { cloud, listings, host } = doing
  const looked = await attempt(async () => ({
    services: await listings.services({ fresh: true }),
    isEmpty: (await cloud.servers.stream({ allProjects: true, host, pageSize: 1 }).next()).done
  }))
  if (!looked.ok) return [looked.failure.words]
  const service = looked.value.services.find(service => service.host === host)
  if (service?.status !== 'disabled' || !looked.value.isEmpty)
    return [`the host is in zone ${from.zone}: it can move to ${to.zone} only when it is disabled and empty`]
  const out = await leave(from, doing)
  if (out.length > 0) return out
  const into = await join(to, doing)
  return into.length === 0 ? [] : [...into, ...(await join(from, doing))]
}
