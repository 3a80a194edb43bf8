// Where a host stands on its way into OpenStack, and the next step (spec/hypervisor.md §3.2). Pure.
import { findCondition } from '../../shared/kube/conditions.ts'
import { mayEnable } from '../../shared/openstack/compute-service.ts'
import { matchHost, namesOf } from '../../shared/openstack/host.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'
import type { Check } from './checks.ts'
import { budgetEntry, nextTest, type TestStep } from './smoke-test.ts'

export const manager = 'drover-onboarding'
export const retryAnnotation = 'kvm.cloud.sap/retry-onboarding'

export interface Options {
  /** Further forms of the name under which Nova may know a host, as `{name}.example.com` (HV-28). */
  nameForms: readonly string[]
  testAggregate: string
  prefix: string
  maxAttempts: number
  testTimeoutMs: number
  firstWaitMs: number
  /** HV-43: the test server leaves by live migration and comes back. */
  liveMigration: boolean
  /** HV-32: enable a service also when somebody else disabled it. */
  takeover: boolean
  /** HV-41 */
  haMode: 'drover' | 'external' | 'observe' | 'off'
}

/** As the listing of Nova shows it. */
export interface NovaHost {
  id: string
  hostname: string
  state: string
  status: string
  service: { id: string; host: string; disabledReason: string | null }
}

/** The test's server, as far as it was looked for. */
export interface TestServer {
  id: string
  name: string
  status: string
  fault: string | undefined
  created: string | null
  /** Whether the awaited text is among the last lines of its console; asked for when it is ACTIVE. */
  hasShown: boolean
  /** HV-43: whether it shows that it reached the network; true when that is not asked. */
  hasReached: boolean
  /** Why its console could not be read. */
  problem: string | undefined
  /** HV-43: where it is and what is done to it; asked for when it is to move. */
  host: string | null
  taskState: string | null
}

export interface Seen {
  hypervisor: Hypervisor
  hosts: readonly NovaHost[]
  /** Asked for when the host is down. */
  forcedDown: boolean
  /** Servers of this host's tests that still exist. */
  servers: readonly TestServer[]
  /** HV-43: made while the host is prepared. */
  checks: readonly Check[]
}

export type Step =
  | { do: 'nothing' }
  /** HV-27: done long ago; the ids are looked at again (HV-28). */
  | { do: 'verify'; host: NovaHost }
  | { do: 'verify'; host: undefined; problem: string }
  | { do: 'wait'; at: Stage; waitingFor: string; host?: NovaHost }
  | { do: 'advance'; to: 'Initial' | 'Testing' | 'Handover'; host: NovaHost }
  | { do: 'enable'; host: NovaHost }
  | { do: 'test'; test: TestStep; host: NovaHost }
  | { do: 'fail'; host: NovaHost }
  | { do: 'retry'; host: NovaHost }
  | { do: 'clean'; at: 'Testing' | 'Aborted'; servers: string[]; host?: NovaHost }
  | { do: 'abort'; why: string }
  | { do: 'succeed'; host: NovaHost }

/** The reasons of Onboarding=True, and where a host is before the first of them. */
export type Stage = 'Registering' | 'Initial' | 'Testing' | 'Handover' | 'Failed'

export function stageOf(hypervisor: Hypervisor): Stage | 'Aborted' | 'Done' | 'Off' {
  const { status, reason } = findCondition(hypervisor, 'Onboarding') ?? {}
  if (status === 'False') return reason === 'Succeeded' ? 'Done' : 'Off'
  if (status !== 'True') return 'Registering'
  if (reason === 'Initial' || reason === 'Testing' || reason === 'Handover' || reason === 'Failed') return reason
  return 'Aborted'
}

export function decide(seen: Seen, options: Options, now: Date): Step {
  const { hypervisor } = seen
  const stage = stageOf(hypervisor)
  const { spec } = hypervisor
  const isWanted = spec.lifecycleEnabled && spec.maintenance !== 'termination'
  if (stage === 'Done') return isWanted ? verify(seen, options) : { do: 'nothing' }
  if (!isWanted)
    return stopping(seen, stage, spec.lifecycleEnabled ? 'the host is to be terminated' : 'the lifecycle was switched off')
  const match = matchHost(seen.hosts, namesOf(hypervisor, options.nameForms))
  const host = match.found
  if (!host) return { do: 'wait', at: 'Registering', waitingFor: unregistered(match) }
  switch (stage) {
    case 'Initial':
      return preparing(seen, host, options)
    case 'Testing':
      return testing(seen, host, options, now)
    case 'Handover':
      return handingOver(hypervisor, host, options)
    case 'Failed':
      return mayTryAgain(hypervisor) ? { do: 'retry', host } : { do: 'wait', at: 'Failed', waitingFor: retryHint, host }
    case 'Aborted': // wanted again before all was cleaned up (HV-37, HV-40): whoever begins anew does not know of the old servers
      if (seen.servers.length > 0) return { do: 'clean', at: 'Aborted', servers: seen.servers.map(({ id }) => id), host }
      return { do: 'advance', to: 'Initial', host }
    default: // new, or aborted and wanted again
      return { do: 'advance', to: 'Initial', host }
  }
}

const retryHint = `a change of the spec, of the annotation ${retryAnnotation}, or a reboot`

const unregistered = (match: { reason: string; candidates: readonly NovaHost[] }): string =>
  match.reason === 'AmbiguousHost'
    ? `one host in Nova instead of ${match.candidates.map(({ hostname }) => hostname).join(', ')} (AmbiguousHost)`
    : 'nova-compute to register the host (not registered)'

function verify({ hypervisor, hosts }: Seen, { nameForms }: Options): Step {
  const match = matchHost(hosts, namesOf(hypervisor, nameForms))
  return match.found ? { do: 'verify', host: match.found } : { do: 'verify', host: undefined, problem: unregistered(match) }
}

/** HV-40: what the tests left is cleaned up first; then the host rests. */
function stopping({ servers }: Seen, stage: string, why: string): Step {
  if (stage === 'Registering' || stage === 'Off') return { do: 'nothing' }
  return servers.length > 0 ? { do: 'clean', at: 'Aborted', servers: servers.map(({ id }) => id) } : { do: 'abort', why }
}

/** HV-34, HV-35: the aggregates of the test, and no others, then the service. */
function preparing({ hypervisor, forcedDown, checks }: Seen, host: NovaHost, { testAggregate, takeover }: Options): Step {
  const zone = hypervisor.metadata.labels?.['topology.kubernetes.io/zone']
  if (!zone) return { do: 'wait', at: 'Initial', waitingFor: 'the label topology.kubernetes.io/zone', host }
  const names = new Set((hypervisor.status?.aggregates ?? []).map(({ name }) => name))
  const isThere = findCondition(hypervisor, 'AggregatesUpdated')?.reason === 'TestAggregates'
  if (!isThere || ![zone, testAggregate].every(name => names.has(name)))
    return { do: 'wait', at: 'Initial', waitingFor: `the aggregates ${zone} and ${testAggregate}`, host }
  const failed = checks.find(({ result }) => result === 'Failed')
  if (failed) return { do: 'wait', at: 'Initial', waitingFor: `the ${failed.name}: ${failed.reason}`, host }
  if (host.status === 'enabled' && host.state === 'up') return { do: 'advance', to: 'Testing', host }
  if (host.status === 'enabled' && !forcedDown) return { do: 'wait', at: 'Initial', waitingFor: 'nova-compute to be up', host }
  const { disabledReason } = host.service
  const service = { status: host.status === 'enabled' ? 'enabled' : 'disabled', disabledReason } as const
  if (mayEnable(service, { takeover, first: true })) return { do: 'enable', host }
  return {
    do: 'wait',
    at: 'Initial',
    waitingFor: `whoever disabled the compute service: ${disabledReason ?? 'no reason given'}`,
    host
  }
}

/** HV-36, HV-37: tested, and nothing left of it. */
function testing(seen: Seen, host: NovaHost, options: Options, now: Date): Step {
  const { hypervisor, servers } = seen
  const test = hypervisor.spec.skipTests ? 'Passed' : nextTest(seen, host.service.host, options, now)
  if (typeof test === 'object' && test.do !== 'create' && test.do !== 'pause') return { do: 'test', test, host }
  if (servers.length > 0) return { do: 'clean', at: 'Testing', servers: servers.map(({ id }) => id), host }
  if (test === 'Passed') return { do: 'advance', to: 'Handover', host }
  return test === 'Exhausted' ? { do: 'fail', host } : { do: 'test', test, host }
}

/** HV-38, HV-41: traits, then aggregates, then high availability. */
function handingOver(hypervisor: Hypervisor, host: NovaHost, { haMode }: Options): Step {
  const wait = (waitingFor: string): Step => ({ do: 'wait', at: 'Handover', waitingFor, host })
  if (!isDone(hypervisor, 'TraitsUpdated')) return wait(because(hypervisor, 'TraitsUpdated', 'the traits'))
  if (!isDone(hypervisor, 'AggregatesUpdated')) return wait(because(hypervisor, 'AggregatesUpdated', 'the aggregates'))
  const needsHa = hypervisor.spec.highAvailability && (haMode === 'drover' || haMode === 'external')
  if (needsHa && findCondition(hypervisor, 'HaEnabled')?.status !== 'True')
    return wait(because(hypervisor, 'HaEnabled', 'high availability'))
  return { do: 'succeed', host }
}

function isDone(hypervisor: Hypervisor, type: string): boolean {
  const found = findCondition(hypervisor, type)
  return (
    found?.status === 'True' && (found.observedGeneration ?? hypervisor.metadata.generation) === hypervisor.metadata.generation
  )
}

function because(hypervisor: Hypervisor, type: string, what: string): string {
  const found = findCondition(hypervisor, type)
  return found && found.status !== 'True' && found.message ? `${what}: ${found.message}` : what
}

/** HV-39: what may be different now. The last entry of the tests holds what it was when the budget ended. */
function mayTryAgain(hypervisor: Hypervisor): boolean {
  const failedAt = findCondition(hypervisor, 'Onboarding')?.observedGeneration
  if (failedAt !== hypervisor.metadata.generation) return true
  const noted = hypervisor.status?.onboarding?.tests?.find(({ name }) => name === budgetEntry)
  return noted !== undefined && noted.reason !== circumstances(hypervisor)
}

export const circumstances = ({ metadata, status }: Hypervisor): string =>
  `boot ${status?.agent?.bootId ?? 'unknown'}, retry ${metadata.annotations?.[retryAnnotation] ?? 'not asked for'}`

/** Under way: time alone may bring it on. */
export function isOpen(hypervisor: Hypervisor): boolean {
  const stage = stageOf(hypervisor)
  if (stage === 'Done') return false
  if (stage === 'Registering' || stage === 'Off')
    return hypervisor.spec.lifecycleEnabled && hypervisor.spec.maintenance !== 'termination'
  return true
}
