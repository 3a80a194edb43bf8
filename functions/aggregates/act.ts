import { attempt } from '../../shared/openstack/failure.ts'
import { isObserved, type HostDeps } from '../../shared/openstack/host-function.ts'
import { resolveHost } from '../../shared/openstack/listings.ts'
import { tellDrift } from '../../shared/openstack/tell-drift.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import {
  desired,
  differences,
  driftIn,
  isEligible,
  membership,
  plan,
  reflect,
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
  const observed = isObserved(hypervisor, deps)
  const { conditions, aggregates, ...extra } = reflect(hypervisor, want, outcome, deps.clock(), deps.extended)
  const status = observed ? extra : { conditions, aggregates, ...extra } // HV-8: another operator's conditions stay its own
  await deps.kube.applyStatus(Hypervisor, { metadata: { name: hypervisor.metadata.name }, status }, { live: hypervisor })
  await tellDrift(hypervisor, outcome.findings, deps)
}

async function pursue(hypervisor: Hypervisor, want: NonNullable<Desired>, deps: Deps): Promise<Outcome> {
  const looked = await attempt(async () => ({
    host: await resolveHost(hypervisor, deps.listings),
    all: await deps.listings.aggregates()
  }))
  if (!looked.ok) return { aggregates: undefined, problems: [looked.failure.words], findings: [] }
  const { host, all } = looked.value
  if (host === undefined) return { aggregates: undefined, problems: ['Nova does not know the host by its id'], findings: [] }
  if (want.names === undefined) return { aggregates: membership(host, all), problems: [], findings: [] }
  const seen = plan(want.names, host, all, deps.options)
  const observed = isObserved(hypervisor, deps)
  const repaired = driftIn(hypervisor, seen, 'repaired')
  if (observed || (deps.options.drift === 'report' && repaired.length > 0)) {
    const findings = observed ? differences(seen, 'reported') : driftIn(hypervisor, seen, 'reported')
    const problems = findings.map(({ name, actual }) => `${name}: ${actual}, left so`)
    return { aggregates: membership(host, all), problems, findings }
  }
  const { problems, shown } = await act(want.names, host, seen, deps)
  return { aggregates: shown && membership(host, shown), problems, findings: repaired }
}

/** Adds first, so that a filtering aggregate is never missing in between (AG-1). One failure does not stop the others (AG-6). */
async function act(
  names: readonly string[],
  host: string,
  { add, remove, missing, rezone }: Plan,
  deps: Deps
): Promise<{ problems: string[]; shown: readonly Aggregate[] | undefined }> {
  const { listings, options } = deps
  const absent = missing.map(name => `there is no aggregate ${name}`)
  const problems = rezone ? await changeZone(host, rezone, deps) : []
  for (const aggregate of add.filter(aggregate => aggregate !== rezone?.to)) problems.push(...(await join(aggregate, host, deps)))
  if (problems.length === 0 && remove.length > 0) {
    // AG-2: a listing that others share may be some seconds old, too old to take a host out of something
    const fresh = await attempt(() => listings.aggregates({ fresh: true }))
    if (!fresh.ok) return { problems: [...absent, fresh.failure.words], shown: undefined }
    for (const aggregate of plan(names, host, fresh.value, options).remove) problems.push(...(await leave(aggregate, host, deps)))
  }
  const shown = await attempt(() => listings.aggregates({ fresh: problems.length > 0 }))
  return { problems: [...absent, ...problems], shown: shown.ok ? shown.value : undefined }
}

const join = ({ id }: Aggregate, host: string, deps: Deps): Promise<string[]> =>
  change(() => deps.cloud.aggregates.addHost(id, host), id, host, true, deps)

const leave = ({ id }: Aggregate, host: string, deps: Deps): Promise<string[]> =>
  change(() => deps.cloud.aggregates.removeHost(id, host), id, host, false, deps)

/** The answer goes into the listing. What was refused may be as wanted all the same (AG-6): Nova is asked. */
async function change(
  run: () => Promise<Aggregate>,
  id: number,
  host: string,
  isMember: boolean,
  { listings }: Deps
): Promise<string[]> {
  const done = await attempt(run)
  if (done.ok) {
    listings.noteMembership(done.value, host)
    return []
  }
  const now = await attempt(() => listings.aggregates({ fresh: true }))
  const isAsWanted = now.ok && isMember === membership(host, now.value).some(aggregate => aggregate.id === id)
  return isAsWanted ? [] : [done.failure.words]
}

/** AG-3: only a disabled and empty host changes its zone; when the new one refuses it, it goes back to the old one. */
async function changeZone(host: string, { from, to }: NonNullable<Plan['rezone']>, deps: Deps): Promise<string[]> {
  const { cloud, listings } = deps
  const looked = await attempt(async () => ({
    services: await listings.services({ fresh: true }),
    servers: await cloud.servers.list({ allProjects: true, host, pageSize: 1 })
  }))
  if (!looked.ok) return [looked.failure.words]
  const service = looked.value.services.find(service => service.host === host)
  if (service?.status !== 'disabled' || looked.value.servers.length > 0)
    return [`the host is in zone ${from.zone}: it can move to ${to.zone} only when it is disabled and empty`]
  const out = await leave(from, host, deps)
  if (out.length > 0) return out
  const into = await join(to, host, deps)
  return into.length === 0 ? [] : [...into, ...(await join(from, host, deps))]
}
