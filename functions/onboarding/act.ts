import { tellActions } from '../../shared/openstack/audit.ts'
import { attempt, failureOf } from '../../shared/openstack/failure.ts'
import { isObserved, type HostDeps } from '../../shared/openstack/host-function.ts'
import { matchHost, namesOf } from '../../shared/openstack/host.ts'
import { tellDrift } from '../../shared/openstack/tell-drift.ts'
import type { Cloud } from '../../shared/openstack/connect.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { checksOf, type Check, type CheckRule } from './checks.ts'
import { decide, manager, stageOf, type NovaHost, type Options, type Seen, type Step, type TestServer } from './decide.ts'
import { orderServer, type TestOptions } from './order-server.ts'
import { reflect, type Outcome } from './reflect.ts'
import { consoleLines, namesToFind, networkLines } from './smoke-test.ts'

export interface Deps extends HostDeps {
  options: Options
  /** HV-68: the test project has its own credential. */
  testCloud: Cloud
  test: TestOptions
  /** HV-43 */
  checks: readonly CheckRule[]
  minLibvirt: string
}

export async function settle(hypervisor: Hypervisor, deps: Deps): Promise<void> {
  const stage = stageOf(hypervisor)
  if (stage === 'Registering' && !hypervisor.spec.lifecycleEnabled) return
  const looked = await attempt(() => look(hypervisor, deps))
  const step: Step = looked.ok ? decide(looked.value, deps.options, deps.clock()) : outage(hypervisor, looked.failure.words)
  if (step.do === 'nothing') return
  if (isObserved(hypervisor, deps)) return observe(hypervisor, step, deps)
  const done = looked.ok ? await act(hypervisor, step, deps) : { problem: looked.failure.words }
  const outcome = looked.ok ? { ...done, checks: looked.value.checks } : done
  await write(hypervisor, step, outcome, deps)
}

/** What cannot be looked at stays where it is; the words say why. */
function outage(hypervisor: Hypervisor, words: string): Step {
  const stage = stageOf(hypervisor)
  if (stage === 'Done' || stage === 'Off') return { do: 'nothing' }
  return { do: 'wait', at: stage === 'Aborted' ? 'Registering' : stage, waitingFor: `OpenStack: ${words}` }
}

async function write(hypervisor: Hypervisor, step: Step, outcome: Outcome, deps: Deps): Promise<void> {
  const { options, extended, clock } = deps
  const haSkipped = !hypervisor.spec.highAvailability || options.haMode === 'off' || options.haMode === 'observe'
  const { status, actions } = reflect(hypervisor, step, outcome, clock(), { ...options, extended, haSkipped })
  await deps.kube.applyStatus(Hypervisor, { metadata: { name: hypervisor.metadata.name }, status }, { live: hypervisor })
  await tellDrift(hypervisor, ('drift' in status && status.drift ? status.drift : []).flatMap(asNews(hypervisor)), deps)
  await tellActions(hypervisor, manager, actions, deps)
}

type Drift = NonNullable<NonNullable<Hypervisor['status']>['drift']>[number]
type Finding = Parameters<typeof tellDrift>[1][number]

/** Only what this pass found is news. */
const asNews =
  ({ status }: Hypervisor) =>
  (entry: Drift): Finding[] => {
    const known = status?.drift?.some(
      ({ kind, name, since }) => kind === entry.kind && name === entry.name && since === entry.since
    )
    return known ? [] : [entry as Finding]
  }

/** HV-8: the intended step, and nothing else. */
async function observe(hypervisor: Hypervisor, step: Step, { kube, extended }: Deps): Promise<void> {
  if (!extended || step.do === 'verify') return
  const onboarding = { step: `observe: ${step.do}`, ...('waitingFor' in step && { waitingFor: step.waitingFor }) }
  const { name } = hypervisor.metadata
  await kube.applyStatus(Hypervisor, { metadata: { name }, status: { onboarding } }, { live: hypervisor })
}

async function look(hypervisor: Hypervisor, deps: Deps): Promise<Seen> {
  const stage = stageOf(hypervisor)
  const [hosts, servers] = await Promise.all([
    deps.listings.hypervisors(),
    stage === 'Testing' || stage === 'Aborted' || isStopping(hypervisor) ? testServers(hypervisor, deps) : []
  ])
  const forcedDown = stage === 'Initial' && (await isForcedDown(hypervisor, hosts, deps))
  const checks = stage === 'Initial' ? await check(hypervisor, deps) : []
  return { hypervisor, hosts, forcedDown, servers, checks }
}

/** HV-43: Placement is asked only by whoever wants to know of the storage. */
async function check(hypervisor: Hypervisor, { cloud, checks, minLibvirt }: Deps): Promise<Check[]> {
  const { hypervisorId } = hypervisor.status ?? {}
  const asks = hypervisorId && checks.some(({ name }) => name === 'storage')
  const diskGiB = asks ? (await cloud.resourceProviders.inventories(hypervisorId))['DISK_GB']?.total : undefined
  return checksOf(checks, { hypervisor, minLibvirt, diskGiB })
}

/** Only of a host that is down it matters whether it was forced to be. */
async function isForcedDown(hypervisor: Hypervisor, hosts: readonly NovaHost[], { listings, options }: Deps): Promise<boolean> {
  const { found } = matchHost(hosts, namesOf(hypervisor, options.nameForms))
  if (found?.state !== 'down') return false
  return (await listings.services()).some(({ id, forcedDown }) => id === found.service.id && forcedDown)
}

const isStopping = (hypervisor: Hypervisor): boolean =>
  ['Initial', 'Handover', 'Failed'].includes(stageOf(hypervisor)) &&
  (!hypervisor.spec.lifecycleEnabled || hypervisor.spec.maintenance === 'termination')

/** A host whose tests are skipped, and were never begun, has none. */
async function testServers(hypervisor: Hypervisor, { cloud, testCloud, options, test }: Deps): Promise<TestServer[]> {
  if (hypervisor.spec.skipTests && !hypervisor.status?.onboarding?.tests?.length) return []
  const found: TestServer[] = []
  for (const name of namesToFind(hypervisor, options.prefix)) {
    for (const { id, status, fault, created } of await testCloud.servers.named(name)) {
      const console = status === 'ACTIVE' ? await readConsole(id, name, testCloud, test) : silent
      // the test project's credential is not told where its server is
      const place = options.liveMigration ? await cloud.servers.get(id) : undefined
      const { host = null, taskState = null } = place ?? {}
      found.push({ id, name, status, fault: fault?.message, created, ...console, host, taskState })
    }
  }
  return found
}

type Console = Pick<TestServer, 'hasShown' | 'hasReached' | 'problem'>
const silent: Console = { hasShown: false, hasReached: false, problem: undefined }

/** A console that cannot be read is one that shows nothing: the test has its time, and then it has failed (HV-36). */
async function readConsole(id: string, name: string, { servers }: Cloud, test: TestOptions): Promise<Console> {
  const shows = async (lines: number, text: string): Promise<boolean> => (await servers.consoleOutput(id, lines)).includes(text)
  const read = await attempt(async () => {
    const hasShown = await shows(consoleLines, test.consoleText.replaceAll('{name}', name))
    return { hasShown, hasReached: test.networkText === '' || (hasShown && (await shows(networkLines, test.networkText))) }
  })
  return read.ok ? { ...read.value, problem: undefined } : { ...silent, problem: read.failure.words }
}

async function act(hypervisor: Hypervisor, step: Step, deps: Deps): Promise<Outcome> {
  const { cloud, testCloud, listings } = deps
  try {
    if (step.do === 'enable') {
      listings.forget()
      const { status, state, forcedDown } = await cloud.services.update(step.host.service.id, {
        status: 'enabled',
        forcedDown: false
      })
      return status === 'enabled' && state === 'up' && !forcedDown
        ? {}
        : { problem: `Waiting for nova-compute, which is ${state}.` }
    }
    // HV-37: by recorded id, found by its full name
    if (step.do === 'clean') for (const server of step.servers) await testCloud.servers.delete(server)
    if (step.do !== 'test') return {}
    const { test } = step
    if (test.do === 'move') await cloud.servers.liveMigrate(test.server, test.target)
    if (test.do === 'create') await orderServer(test.name, hypervisor, step.host.service.host, deps)
    if ((test.do === 'fail' || test.do === 'pass') && test.server) await testCloud.servers.delete(test.server)
    return {}
  } catch (err) {
    const { words, retryable } = failureOf(err)
    return { problem: words, isFinal: !retryable }
  }
}
