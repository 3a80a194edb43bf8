// What a step of onboarding changed, for the record (HV-67). Pure.
import { findCondition } from '../../shared/kube/conditions.ts'
import type { Action } from '../../shared/openstack/audit.ts'
import type { Hypervisor } from '../../shared/schema/hypervisor.ts'
import type { Step } from './decide.ts'

/** `reached` is the condition after the step; undefined when there is none yet. */
export function actionsOf(
  hypervisor: Hypervisor,
  step: Step,
  problem: string | undefined,
  reached: { status: string; reason: string; message: string } | undefined
): Action[] {
  const before = findCondition(hypervisor, 'Onboarding')
  const hasMoved = reached && (reached.reason !== before?.reason || reached.status !== before.status)
  const moved = hasMoved ? [{ kind: 'onboarding', from: before?.reason, to: reached.reason, reason: reached.message }] : []
  return [...(problem === undefined ? deedsOf(step) : []), ...moved]
}

function deedsOf(step: Step): Action[] {
  if (step.do === 'enable')
    return [{ kind: 'compute service', from: step.host.status, to: 'enabled', reason: 'the host is to be tested' }]
  if (step.do === 'clean')
    return step.servers.map(id => ({ kind: `test server ${id}`, to: 'deleted', reason: 'the tests are over' }))
  if (step.do !== 'test') return []
  const { test } = step
  if (test.do === 'create') return [{ kind: `test ${test.name}`, to: 'ordered', reason: 'the host is to prove itself' }]
  if (test.do === 'move')
    return [{ kind: `test ${test.name}`, to: `moved ${test.leg}`, reason: 'the host is to give servers away and take them' }]
  if (test.do === 'pass') return [{ kind: `test ${test.name}`, to: 'passed', reason: 'ACTIVE and on its console' }]
  return test.do === 'fail' ? [{ kind: `test ${test.name}`, to: 'failed', reason: test.why }] : []
}
