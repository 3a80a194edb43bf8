import type { ComputeService } from 'openstack-sdk-lite'
import { tellActions, type Action } from '../../shared/openstack/audit.ts'
import { refuseCutCell } from '../../shared/openstack/cut-cell.ts'
import { attempt, type Result } from '../../shared/openstack/failure.ts'
import type { Finding } from '../../shared/openstack/drift.ts'
import { namesOf, novaHost } from '../../shared/openstack/host.ts'
import { isObserved, isStillAsked, whole, type HostDeps } from '../../shared/openstack/host-function.ts'
import { tellDrift } from '../../shared/openstack/tell-drift.ts'
import { Eviction } from '../../shared/schema/eviction.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { bootAnnotation, decide, emergencyAnnotation, isOurs, manager, type Seen, type Step } from './decide.ts'
import { reflect, type Outcome } from './reflect.ts'

export interface Deps extends HostDeps {
  takeover: boolean
}

export async function settle(hypervisor: Hypervisor, deps: Deps, heard: readonly Action[] = []): Promise<void> {
  if (!isOurs(hypervisor)) return
  const { kube, clock } = deps
  const { name } = hypervisor.metadata
  const eviction = await kube.find(Eviction, name)
  const looked = await attempt(() => serviceOf(hypervisor, deps))
  const seen: Seen = {
    hypervisor,
    eviction,
    service: looked.ok ? looked.value : undefined,
    takeover: deps.takeover,
    extended: deps.extended
  }
  const step = decide(seen, clock().getTime())
  if (step.mode === '' && !eviction && isUnknown(hypervisor)) return
  // the event of the change, or the next tick, comes with the new spec
  if (isChange(step, eviction) && !(await isStillAsked(hypervisor, deps))) return
  const done = isObserved(hypervisor, deps) ? observed(seen, step) : await act(seen, step, looked, deps)
  const outcome = { ...done, actions: [...heard, ...done.actions] }
  const { drift, ...own } = reflect(seen, step, outcome, clock(), deps.extended)
  // HV-8: another operator's conditions stay its own
  const status = { ...(!isObserved(hypervisor, deps) && own), ...(drift && { drift }) }
  await kube.applyStatus(Hypervisor, { metadata: { name }, status }, { live: hypervisor })
  await tellDrift(hypervisor, outcome.findings, deps)
  await tellActions(hypervisor, manager, outcome.actions, deps)
}

const isChange = ({ service, eviction }: Step, live: Eviction | undefined): boolean =>
  service.do === 'enable' ||
  service.do === 'disable' ||
  eviction.do === 'cancel' ||
  eviction.do === 'delete' ||
  (eviction.do === 'ensure' && !live)

/** Not in Nova yet, and never in maintenance: nothing is to be said of it. */
const isUnknown = ({ status }: Hypervisor): boolean => status?.serviceId === undefined && !status?.maintenance

/** HV-32: compared with Nova in every pass. By id, or by equality of the name. */
async function serviceOf(hypervisor: Hypervisor, { listings }: Deps): Promise<ComputeService | undefined> {
  const { serviceId } = hypervisor.status ?? {}
  const host = novaHost(hypervisor)
  if (serviceId === undefined && host === undefined && !hypervisor.spec.maintenance) return undefined
  const all = await listings.services()
  const names = host === undefined ? namesOf(hypervisor) : [host]
  const found = all.find(({ id }) => id === serviceId) ?? all.find(service => names.includes(service.host))
  refuseCutCell(found)
  return found
}

function observed({ service, eviction }: Seen, step: Step): Outcome {
  const wish = step.service.do === 'disable' || step.service.do === 'enable' ? step.service.do : undefined
  const findings: Finding[] = wish
    ? [
        {
          kind: 'service',
          name: 'nova-compute',
          expected: wish === 'enable' ? 'enabled' : 'disabled',
          actual: service?.status ?? 'unknown',
          action: 'reported'
        }
      ]
    : []
  return { service, eviction, findings, actions: [] }
}

async function act(seen: Seen, step: Step, looked: Result<unknown>, deps: Deps): Promise<Outcome> {
  const changed = looked.ok
    ? await actOnService(seen, step, deps)
    : { service: undefined, problem: looked.failure.words, findings: [], actions: [] }
  const { eviction, actions } = await actOnEviction(seen, step, deps)
  return { ...changed, eviction, actions: [...changed.actions, ...actions] }
}

async function actOnService(
  { hypervisor, service }: Seen,
  { service: step }: Step,
  { cloud, listings }: Deps
): Promise<Omit<Outcome, 'eviction'>> {
  if (!service || step.do === 'leave') return { service, findings: [], actions: [] }
  const finding = { kind: 'service' as const, name: 'nova-compute' }
  if (step.do === 'report')
    return { service, findings: [{ ...finding, expected: 'enabled', actual: step.actual, action: 'reported' }], actions: [] }
  const change =
    step.do === 'disable' ? { status: 'disabled' as const, disabledReason: step.reason } : { status: 'enabled' as const }
  const written = await attempt(() => cloud.services.update(service.id, change))
  listings.forget('services')
  if (!written.ok) return { service, problem: written.failure.words, findings: [], actions: [] }
  // it was as wanted when we last looked, so somebody else changed it
  const was = hypervisor.status?.conditions?.find(({ type }) => type === 'HypervisorDisabled')
  const undone = was?.status === (step.do === 'disable' ? 'True' : 'False')
  const findings: Finding[] = undone ? [{ ...finding, expected: change.status, actual: service.status, action: 'repaired' }] : []
  const reason = step.do === 'disable' ? step.reason : 'the maintenance is over'
  const done: Action = { kind: 'service nova-compute', from: service.status, to: change.status, reason }
  return { service: written.value, findings, actions: [done] }
}

async function actOnEviction(
  { hypervisor, eviction }: Seen,
  { mode, eviction: step, appeared }: Step,
  { kube }: Deps
): Promise<Pick<Outcome, 'eviction' | 'actions'>> {
  const { name } = hypervisor.metadata
  const acted = (from: string, to: string, reason: string): Action[] => [{ kind: `eviction ${name}`, from, to, reason }]
  if (step.do === 'leave') return { eviction, actions: [] }
  if (step.do === 'delete') {
    await kube.delete(Eviction, { name, uid: eviction?.metadata.uid })
    const why = mode === '' ? 'the maintenance is over' : 'another one shall empty the host'
    return { eviction: undefined, actions: acted('over', 'deleted', why) }
  }
  if (step.do === 'cancel') {
    if (eviction?.spec.cancel) return { eviction, actions: [] } // by us, or by a person who may want more
    const cancelled = await kube.patch(Eviction, { name }, { spec: { cancel: step.how } })
    return { eviction: cancelled, actions: acted('running', 'cancelled', 'the maintenance is over') }
  }
  if (appeared) {
    const note = `Server ${appeared} appeared on the drained host; it is emptied again.`
    const about = { ...hypervisor, apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor' }
    await kube.event(about, { type: 'Warning', reason: 'ServerAppeared', action: 'Evict', note })
  }
  // an earlier "clear" may have asked it to stop
  const live = eviction?.spec.cancel ? await kube.patch(Eviction, { name }, { spec: { cancel: null } }) : eviction
  const boot = eviction?.metadata.annotations
  const urgent = boot?.[emergencyAnnotation] === 'true' ? emergency(boot[bootAnnotation]) : undefined
  const { maintenanceReason } = hypervisor.spec
  const reason = `maintenance=${mode}${maintenanceReason ? `: ${maintenanceReason}` : ''}`
  const wanted = await kube.apply(Eviction, evictionFor(hypervisor, reason, step.retryToken, urgent), { ...(live && { live }) })
  return { eviction: wanted, actions: eviction ? [] : acted('absent', 'asked for', reason) }
}

/** HV-44: named like the host, owned by it, with its labels and its wishes. */
function evictionFor(
  { metadata: { name, uid = '', labels = {} }, spec }: Hypervisor,
  reason: string,
  retryToken: string | undefined,
  annotations: Record<string, string> | undefined
) {
  const owner = { apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor', name, uid, controller: true, blockOwnerDeletion: true }
  return {
    metadata: {
      name,
      ...(Object.keys(labels).length > 0 && { labels }),
      ...(annotations && { annotations }),
      ownerReferences: [owner]
    },
    spec: { hypervisor: name, reason, ...spec.eviction, ...(retryToken && { retryToken }) }
  }
}

const emergency = (bootId: string | undefined): Record<string, string> => ({
  [emergencyAnnotation]: 'true',
  ...(bootId && { [bootAnnotation]: bootId })
})

const calledOff = 'called off at '

/** When the last shutdown that is known to be called off was: a request from before it is told late, or once more. */
const calledOffMs = ({ status }: Hypervisor): number =>
  Math.max(
    0,
    ...(status?.history ?? []).flatMap(({ actor, to = '' }) =>
      actor === manager && to.startsWith(calledOff) ? [Date.parse(to.slice(calledOff.length))] : []
    )
  )

/** NA-21: the host was asked to shut down and holds it back for a while. */
export async function drainForShutdown(host: string, { bootId, at }: { bootId: string; at: string }, deps: Deps): Promise<void> {
  const { kube } = deps
  const found = await kube.find(Hypervisor, host)
  const hypervisor = found && whole(found)
  if (!hypervisor || !(hypervisor.spec.evacuateOnReboot ?? true) || isObserved(hypervisor, deps)) return // NA-20
  if (Date.parse(at) <= calledOffMs(hypervisor)) return
  const { name } = hypervisor.metadata
  if (await kube.find(Eviction, name)) await kube.patch(Eviction, { name }, { metadata: { annotations: emergency(bootId) } })
  else
    await kube.apply(
      Eviction,
      evictionFor(hypervisor, 'maintenance=shutdown: the host was asked to shut down', undefined, emergency(bootId))
    )
  await settle(hypervisor, deps)
}

/** Written down even when nothing is under way: the request may come after it. */
export async function shutdownIsOff(host: string, at: string, deps: Deps): Promise<void> {
  const { kube } = deps
  const [found, eviction] = await Promise.all([kube.find(Hypervisor, host), kube.find(Eviction, host)])
  if (!found) return
  const hypervisor = whole(found)
  const isUrgent = eviction?.metadata.annotations?.[emergencyAnnotation] !== undefined
  const isNews = !isObserved(hypervisor, deps) && Date.parse(at) > calledOffMs(hypervisor)
  if (!isUrgent && !isNews) return
  if (isUrgent)
    await kube.patch(
      Eviction,
      { name: host },
      { metadata: { annotations: { [emergencyAnnotation]: null, [bootAnnotation]: null } } }
    )
  const reason = 'the host was asked to shut down, and stays up'
  await settle(hypervisor, deps, isNews ? [{ kind: 'shutdown', to: `${calledOff}${at}`, reason }] : [])
}
