// What the status tells of a host's way into OpenStack. Pure.
import { conditionSet, findCondition, timestamp, type Verdict } from '../../shared/kube/conditions.ts'
import { historyAfter } from '../../shared/openstack/audit.ts'
import { driftEntries, type Finding } from '../../shared/openstack/drift.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { actionsOf } from './actions.ts'
import { withChecks, type Check } from './checks.ts'
import { circumstances, manager, type NovaHost, type Options, type Step } from './decide.ts'
import { withLegs } from './legs.ts'
import { budgetEntry, failuresOf, ofServers, type Test, type TestStep } from './smoke-test.ts'

type Status = NonNullable<Hypervisor['status']>
type Workflow = NonNullable<Status['onboarding']>

/** What came of the step: nothing more to say, or why it could not be done. `isFinal` problems will not pass by themselves. */
export interface Outcome {
  problem?: string
  isFinal?: boolean
  checks?: readonly Check[]
}

type Reached = { status: 'True' | 'False'; reason: string; message: string } | undefined

export function reflect(
  hypervisor: Hypervisor,
  step: Step,
  outcome: Outcome,
  now: Date,
  options: Options & { extended: boolean; haSkipped: boolean }
) {
  const { status, metadata } = hypervisor
  const reached = reachedBy(hypervisor, step, outcome, options)
  const verdicts: Verdict[] = reached ? [{ type: 'Onboarding', ...reached }] : []
  const host = 'host' in step ? step.host : undefined
  const drift = driftEntries(status?.drift, ['ids'], findingsOf(hypervisor, step), now)
  const actions = actionsOf(hypervisor, step, outcome.problem, reached)
  const history = historyAfter(status?.history, manager, actions, now)
  const told = {
    ...idsOf(status, host),
    conditions: conditionSet(status?.conditions, verdicts, now, metadata.generation),
    ...(options.extended && {
      ...namesOf(status, host),
      onboarding: workflowOf(hypervisor, step, outcome, reached, now, options),
      ...(drift.length > 0 && { drift }),
      ...(history.length > 0 && { history })
    })
  }
  return { status: told, actions }
}

/** The condition after the step; a step that could not be done leaves it where it was. */
function reachedBy(
  hypervisor: Hypervisor,
  step: Step,
  { problem, isFinal }: Outcome,
  { extended, haSkipped }: { extended: boolean; haSkipped: boolean }
): Reached {
  const before = findCondition(hypervisor, 'Onboarding')
  const stay = (message: string): Reached => before && { status: before.status as 'True', reason: before.reason, message }
  const at = (reason: string, message: string): Reached => ({ status: 'True', reason, message })
  if (problem !== undefined && step.do !== 'test')
    return step.do === 'clean' && step.at === 'Aborted' ? at('Aborted', problem) : stay(problem)
  switch (step.do) {
    case 'wait':
      return step.at === 'Registering' ? stay(`Waiting for ${step.waitingFor}.`) : at(step.at, `Waiting for ${step.waitingFor}.`)
    case 'advance':
      return at(step.to, saying[step.to])
    case 'enable':
      return at('Testing', saying.Testing)
    case 'retry':
      return at('Initial', saying.Initial)
    case 'fail':
      return at('Failed', 'Every test failed; no more servers are made until something changes.')
    case 'clean':
      return at(step.at, 'Waiting for the servers of the tests to be gone.')
    case 'abort':
      return { status: 'False', reason: 'Aborted', message: `Ended, since ${step.why}.` }
    case 'succeed':
      return {
        status: 'False',
        reason: 'Succeeded',
        message: haSkipped ? 'Handed over, without high availability.' : 'Handed over.'
      }
    case 'test':
      if (!extended && step.test.do === 'pass') return at('Handover', saying.Handover) // nowhere to note that it passed
      if (!extended && (step.test.do === 'fail' || isFinal)) return at('Failed', textOf(step.test, problem))
      return at('Testing', textOf(step.test, problem))
    default:
      return before && stay(before.message)
  }
}

const saying = {
  Initial: 'Nova knows the host; waiting for the aggregates of its test.',
  Testing: 'The compute service is enabled; the host is being tested.',
  Handover: 'Tested; waiting for traits and aggregates.'
}

function textOf(test: TestStep, problem: string | undefined): string {
  if (problem !== undefined) return problem
  if (test.do === 'fail') return `${test.name} failed: ${test.why}`
  if (test.do === 'pass') return `${test.name} passed.`
  if (test.do === 'move') return `${test.name} is moved ${test.leg === 'out' ? 'away' : 'back'}.`
  return test.do === 'create' ? `${test.name} was ordered.` : `Waiting for ${test.waitingFor}.`
}

/** HV-28: what a re-registered host is called now, and what it was. */
function findingsOf({ status }: Hypervisor, step: Step): Finding[] {
  if (step.do !== 'verify') return []
  const id = status?.hypervisorId ?? ''
  if (!step.host) return [{ kind: 'ids', name: 'hypervisorId', expected: id, actual: step.problem, action: 'reported' }]
  const pairs = [
    ['hypervisorId', id, step.host.id],
    ['serviceId', status?.serviceId ?? '', step.host.service.id]
  ] as const
  return pairs
    .filter(([, expected, actual]) => expected !== actual)
    .map(([name, expected, actual]) => ({ kind: 'ids', name, expected, actual, action: 'repaired' }))
}

const idsOf = (status: Status | undefined, host: NovaHost | undefined): Partial<Status> => {
  const hypervisorId = host?.id ?? status?.hypervisorId
  const serviceId = host?.service.id ?? status?.serviceId
  return { ...(hypervisorId && { hypervisorId }), ...(serviceId && { serviceId }) }
}

const namesOf = (status: Status | undefined, found: NovaHost | undefined): Partial<Status> => {
  const host = found?.service.host ?? status?.nova?.host
  const hypervisorHostname = found?.hostname ?? status?.nova?.hypervisorHostname
  return { ...(host && hypervisorHostname && { nova: { host, hypervisorHostname } }) }
}

function workflowOf(
  hypervisor: Hypervisor,
  step: Step,
  { problem, isFinal, checks = [] }: Outcome,
  reached: Reached,
  now: Date,
  { maxAttempts }: Options
): Workflow {
  const before = hypervisor.status?.onboarding
  const isNew = step.do === 'retry' || (step.do === 'advance' && step.to === 'Initial')
  const tests = isNew ? [] : withChecks(testsAfter(hypervisor, step, problem, isFinal ?? false, now), checks, now)
  const failed = ofServers(tests).findLast(({ result }) => result === 'Failed')
  const startedAt = isNew ? timestamp(now) : before?.startedAt
  const lastError = problem ?? failed?.reason ?? (isNew ? undefined : before?.lastError)
  const waitingFor = waitOf(step)
  const isOver = reached?.status === 'False'
  return {
    attempts: failuresOf(ofServers(tests)),
    maxAttempts,
    ...(startedAt && { startedAt }),
    step: reached?.reason ?? 'Registering',
    ...(waitingFor && { waitingFor }),
    ...(lastError && !isOver && { lastError }),
    ...(tests.length > 0 && { tests })
  }
}

function waitOf(step: Step): string | undefined {
  if (step.do === 'wait') return step.waitingFor
  if (step.do === 'test' && 'waitingFor' in step.test) return step.test.waitingFor
  return step.do === 'clean' ? 'the servers of the tests to be gone' : undefined
}

function testsAfter(hypervisor: Hypervisor, step: Step, problem: string | undefined, isFinal: boolean, now: Date): Test[] {
  const noted = hypervisor.status?.onboarding?.tests ?? []
  if (step.do === 'fail') return [...noted, { name: budgetEntry, result: 'Exhausted', reason: circumstances(hypervisor) }]
  if (step.do !== 'test' || step.test.do === 'pause') return noted
  const { test } = step
  const { name } = test
  const refused = isFinal ? problem : undefined
  const parts = problem === undefined ? withLegs(noted, test, now) : noted
  const known = noted.find(entry => entry.name === name) ?? { name, startedAt: timestamp(now) }
  const ended = { ...known, finishedAt: timestamp(now) }
  const entry: Test =
    test.do === 'pass'
      ? { ...ended, result: 'Passed' }
      : test.do === 'fail'
        ? { ...ended, result: 'Failed', reason: test.why }
        : refused !== undefined
          ? { ...ended, result: 'Failed', reason: refused }
          : known
  return [...parts.filter(entry => entry.name !== name), entry]
}
