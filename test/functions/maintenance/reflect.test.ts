// HV-32, HV-45, HV-46: what a host says of its maintenance, word by word.
import type { ComputeService } from 'openstack-sdk-lite'
import t from 'tap'
import type { Seen, Step } from '../../../functions/maintenance/decide.ts'
import { reflect, type Outcome } from '../../../functions/maintenance/reflect.ts'
import type { Eviction } from '../../../shared/schema/eviction.ts'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { condition, hypervisor, now } from '../host-life/fixtures.ts'

const service = (more: Partial<ComputeService> = {}): ComputeService => ({
  id: 'service-id',
  host: 'host-1',
  binary: 'nova-compute',
  zone: 'z1',
  status: 'disabled',
  state: 'up',
  forcedDown: false,
  disabledReason: 'fans',
  updated: null,
  ...more
})
const enabled = service({ status: 'enabled', disabledReason: null })
const eviction = (status: NonNullable<Eviction['status']> = {}, retryToken?: string): Eviction => ({
  metadata: { name: 'host-1' },
  spec: { hypervisor: 'host-1', reason: 'x', ...(retryToken && { retryToken }) },
  status
})
const inMode: Step = { mode: 'manual', sinceMs: now.getTime(), service: { do: 'leave' }, eviction: { do: 'leave' } }
const cleared: Step = { ...inMode, mode: '' }
const told = (step: Partial<Step> = {}, outcome: Partial<Outcome> = {}, given: Hypervisor = hypervisor(), extended = true) => {
  const seen: Seen = { hypervisor: given, eviction: undefined, service: undefined, takeover: false, extended }
  const all: Outcome = { service: service(), eviction: undefined, findings: [], actions: [], ...outcome }
  return reflect(seen, { ...inMode, ...step }, all, now, extended)
}
const say = (type: string, ...given: Parameters<typeof told>): string => {
  const found = told(...given).conditions?.find(condition => condition.type === type)
  return found ? `${found.status} ${found.reason}: ${found.message}` : 'nothing'
}
const disabled = (...given: Parameters<typeof told>) => say('HypervisorDisabled', ...given)
const evicting = (...given: Parameters<typeof told>) => say('Evicting', ...given)

t.test('HypervisorDisabled', async t => {
  t.equal(disabled(), 'True Succeeded: Disabled: fans')
  t.equal(disabled({}, { service: service({ disabledReason: null }) }), 'True Succeeded: Disabled: no reason given')
  t.equal(disabled({}, { problem: 'Nova refuses' }), 'True Succeeded: Nova refuses')
  t.equal(disabled(cleared, { service: enabled }), 'False Succeeded: The compute service takes servers.')
  t.equal(disabled({}, { service: enabled }), 'False Succeeded: The compute service takes servers.', 'left so')
  const report = { ...cleared, service: { do: 'report', actual: 'x' } } as const
  t.equal(disabled(report), 'Unknown Drift: Disabled: fans; not as wanted, and left so.')
  t.equal(disabled(report, { problem: 'Nova refuses' }), 'Unknown Drift: Nova refuses')
  const forced = 'Unknown Drift: Somebody forced the compute service down: Nova places no servers here, and it is left so.'
  t.equal(disabled(report, { service: { ...enabled, forcedDown: true } }), forced, 'HA-41')
  t.equal(disabled(cleared, { service: service({ forcedDown: true }) }), forced)
  t.equal(disabled({}, { service: service({ forcedDown: true }) }), 'True Succeeded: Disabled: fans', 'in maintenance')
  const disable = { service: { do: 'disable', reason: 'x' } } as const
  t.equal(disabled(disable), 'True Succeeded: Disabled: fans', 'done')
})

t.test('HypervisorDisabled without an answer of Nova: what was true before stays', async t => {
  const before = hypervisor(
    {},
    { conditions: [condition('Ready', 'False', 'X'), condition('HypervisorDisabled', 'True', 'Succeeded')] }
  )
  const none = { service: undefined }
  t.equal(disabled({}, none, before), 'True Succeeded: Nova has no compute service of this host.')
  t.equal(disabled({}, { ...none, problem: 'Nova is away' }, before), 'True Succeeded: Nova is away')
  t.equal(disabled({}, none), 'Unknown Drift: Nova has no compute service of this host.')
  t.equal(disabled(cleared, none), 'nothing')
})

t.test('Evicting', async t => {
  const of = (...given: Parameters<typeof eviction>) => evicting({}, { eviction: eviction(...given) })
  t.equal(evicting(), 'True Running: Servers are to leave the host.')
  t.equal(of({ progress: { done: 2, total: 5 } }), 'True Running: 2 of 5 servers left the host.')
  t.equal(of({ progress: {}, waitingFor: 'room' }), 'True Running: 0 of 0 servers left the host; waiting for room.')
  t.equal(of({ verdict: 'Succeeded', finishedAt: 'F' }), 'False Succeeded: The host is empty.')
  t.equal(of({ verdict: 'Succeeded', finishedAt: 'F' }, 'again'), 'True Running: Servers are to leave the host.', 'begins again')
  t.equal(of({ verdict: 'Succeeded', finishedAt: 'F', retryToken: 'again' }, 'again'), 'False Succeeded: The host is empty.')
  for (const verdict of ['SucceededWithExclusions', 'Cancelled', 'Planned'] as const)
    t.equal(of({ verdict, finishedAt: 'F' }), `True Blocked: The Eviction ended as ${verdict}: servers are still on the host.`)
  t.equal(of({ verdict: 'Failed', finishedAt: 'F' }), 'True Failed: The Eviction ended as Failed.')
  t.equal(
    of({ verdict: 'Failed', finishedAt: 'F', waitingFor: 'Nova' }),
    'True Failed: The Eviction ended as Failed; waiting for Nova.'
  )
  t.equal(evicting({ appeared: 'vm-1' }), 'True Running: Server vm-1 appeared on the drained host.')
  const waiting = { ...cleared, waitingFor: 'the Eviction to end' }
  t.equal(evicting(waiting, { eviction: eviction() }), 'True Running: Maintenance is over; waiting for the Eviction to end.')
  t.equal(evicting(cleared, { eviction: eviction() }), 'nothing', "EV-2: a person's own")
  t.equal(evicting(cleared), 'nothing')
})

t.test('HV-45: evicted', async t => {
  const done = { eviction: eviction({ verdict: 'Succeeded', finishedAt: 'F' }) }
  t.equal(told({}, done).evicted, true)
  t.equal(told({}, { ...done, service: enabled }).evicted, true)
  t.equal(told({}, { eviction: eviction(), service: enabled }).evicted, false, 'another condition that is False')
  t.equal(told(cleared, done).evicted, false)
})

t.test('the extended status: mode, reason, the Eviction, Nova; nothing of it with an older CRD (HV-4)', async t => {
  const given = hypervisor({ maintenanceReason: 'new fans' })
  const found = { ...eviction({ verdict: 'Incomplete' }), metadata: { name: 'host-1', uid: 'e' } }
  t.strictSame(told({}, { eviction: found }, given).maintenance, {
    mode: 'manual',
    since: '2026-11-16T12:00:00Z',
    reason: 'new fans',
    evictionRef: { name: 'host-1', uid: 'e', verdict: 'Incomplete' }
  })
  t.strictSame(told({}, { eviction: eviction() }).maintenance, {
    mode: 'manual',
    since: '2026-11-16T12:00:00Z',
    evictionRef: { name: 'host-1' }
  })
  t.strictSame(told(cleared, {}, given).maintenance, { mode: '', since: '2026-11-16T12:00:00Z' })
  t.strictSame(Object.keys(told({}, {}, given, false)), ['evicted', 'conditions'])
  t.strictSame(Object.keys(told({}, { service: undefined })), ['evicted', 'conditions', 'maintenance'])
  const finding = { kind: 'service', name: 'status', expected: 'a', actual: 'b', action: 'reported' } as const
  const more = told({}, { findings: [finding], actions: [{ kind: 'service', to: 'disabled', reason: 'x' }] })
  t.strictSame(
    more.drift?.map(({ name }) => name),
    ['status']
  )
  t.strictSame(
    more.history?.map(({ actor }) => actor),
    ['drover-maintenance']
  )
  const old = hypervisor({}, { drift: [{ kind: 'service', name: 'status', action: 'reported' }] })
  t.equal('drift' in told({}, {}, old), false, 'what is well again is taken out')
  const repaired = { kind: 'service', name: 'status', action: 'repaired', since: '2026-11-16T11:30:00Z' } as const
  t.strictSame(
    told({}, {}, hypervisor({}, { drift: [repaired, { ...repaired, kind: 'trait' }] })).drift,
    [repaired],
    'a repair of its own is told for an hour'
  )
})

t.test('what was read of Nova has a new time only if it changed', async t => {
  const nova = {
    status: 'disabled',
    state: 'up',
    forcedDown: false,
    disabledReason: 'fans',
    checkedAt: '2026-11-01T00:00:00Z'
  } as const
  const read = (before: object, current = service()) => told({}, { service: current }, hypervisor({}, { nova: before })).nova
  t.strictSame(read(nova), nova)
  for (const other of [{ status: 'enabled' }, { state: 'down' }, { forcedDown: true }, { disabledReason: 'x' }])
    t.strictSame(read({ ...nova, ...other }), { ...nova, checkedAt: '2026-11-16T12:00:00Z' }, JSON.stringify(other))
  const { disabledReason: _, ...without } = { ...nova, status: 'enabled' }
  t.strictSame(read(without, enabled), without, 'no reason on both sides')
})
