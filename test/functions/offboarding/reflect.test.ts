// What the status says of a host's way out of OpenStack (HV-4, HV-49, HV-52…HV-54, HV-67).
import t from 'tap'
import { reflect, type Step } from '../../../functions/offboarding/decide.ts'
import { hypervisor, now, type Status } from '../host-life/fixtures.ts'

const leaving = (status: Partial<Status> = {}) => hypervisor({ maintenance: 'termination' }, status)
const wait: Step = { do: 'wait', step: 'AgentsGone', waitingFor: 'the agents to leave' }
const drop: Step = { do: 'delete-service', id: 'service-id' }
const clean: Step = { do: 'clean-provider', id: 'hv-id', consumers: ['c'] }
const time = '2026-11-16T12:00:00Z'
const line = (kind: string, to: string, reason: string, from?: string) => ({
  id: `${kind} ${to} ${time}`,
  time,
  kind,
  ...(from && { from }),
  to,
  reason,
  actor: 'drover-offboarding'
})
const deleted = (kind: string, from?: string) => line(kind, 'deleted', 'the host leaves OpenStack', from)
const told: Array<[name: string, step: Step, problem: string | undefined, says: string, stage: string, acted: object[]]> = [
  ['waits', wait, undefined, 'False Offboarding: Waiting for the agents to leave.', 'AgentsGone', []],
  ['OpenStack is away', wait, 'no answer', 'False Blocked: no answer', 'AgentsGone', []],
  ['is blocked', { do: 'block', step: 'Verify', why: 'server s1' }, undefined, 'False Blocked: server s1', 'Verify', []],
  [
    'the service is deleted',
    drop,
    undefined,
    'False Offboarding: The compute service was deleted.',
    'DeleteService',
    [deleted('compute service', 'service-id')]
  ],
  ['HV-52: or not', drop, 'in use', 'False Blocked: in use', 'DeleteService', []],
  [
    'the provider is deleted',
    clean,
    undefined,
    'False Offboarding: The resource provider was deleted.',
    'CleanProvider',
    [deleted('allocations of c'), deleted('resource provider', 'hv-id')]
  ],
  ['HV-53: or not', clean, 'in use', 'False Blocked: in use', 'CleanProvider', []],
  [
    'HV-54: is out',
    { do: 'finish' },
    undefined,
    'True Offboarded: Service and resource provider are gone.',
    'Offboarded',
    [line('offboarding', 'Offboarded', 'service and provider are gone')]
  ],
  ['could not be said to be out', { do: 'finish' }, 'no answer', 'False Blocked: no answer', 'Finish', []]
]
for (const [name, step, problem, says, stage, acted] of told) {
  void t.test(`HV-49, HV-67: the status: ${name}`, async t => {
    const { conditions, ...rest } = reflect(leaving(), step, problem, now, true)
    t.strictSame(
      conditions.map(({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`),
      [`Offboarded ${says}`]
    )
    const why = problem ?? (step.do === 'block' ? step.why : undefined)
    t.strictSame(rest, {
      offboarding: {
        attempts: why === undefined ? 0 : 1,
        startedAt: time,
        step: stage,
        ...(step.do === 'wait' && { waitingFor: step.waitingFor }),
        ...(why !== undefined && { lastError: why })
      },
      ...(acted.length > 0 && { history: acted })
    })
    t.strictSame(Object.keys(reflect(leaving(), step, problem, now, false)), ['conditions'], 'HV-4')
  })
}

void t.test('HV-7, HV-56: the time is that of the last failure, or of the first look', async t => {
  const since = '2026-11-16T11:00:00Z'
  const startedAt = (before: NonNullable<Status['offboarding']>, problem?: string): unknown =>
    ({ offboarding: undefined, ...reflect(leaving({ offboarding: before }), wait, problem, now, true) }).offboarding?.startedAt
  t.equal(startedAt({ attempts: 0, startedAt: since }), since, 'waits as before')
  t.equal(startedAt({ attempts: 0 }), time)
  t.equal(startedAt({ attempts: 1, startedAt: since }), time, 'well again')
  t.equal(startedAt({ attempts: 0, startedAt: since }, 'no answer'), time)
})
