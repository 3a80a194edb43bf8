// HV-28, HV-67: under which ids and names Nova knows the host, what differs, and what was done.
import t from 'tap'
import type { Step } from '../../../functions/onboarding/decide.ts'
import { reflect } from '../../../functions/onboarding/reflect.ts'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { condition, hypervisor, now, type Status } from '../host-life/fixtures.ts'
import { all, at, nova } from './fixtures.ts'

const time = '2026-11-16T12:00:00Z'
const told = (given: Hypervisor, step: Step, extended = true) => reflect(given, step, {}, now, { ...all, extended }).status
const done = (status: Partial<Status> = {}) => hypervisor({}, { conditions: [condition('Onboarding', 'False')], ...status })
const other = nova({ id: 'new-id', hostname: 'h.example.com', service: { id: 'new-service', host: 'h', disabledReason: null } })
const lost: Step = { do: 'verify', host: undefined, problem: 'not registered' }
const found = (host = nova()): Step => ({ do: 'verify', host })

t.test('HV-28: ids and names are those that Nova shows, or those of before', async t => {
  const known = (given: Hypervisor, step: Step) => {
    const { hypervisorId, serviceId, nova: names } = { nova: undefined, ...told(given, step) }
    return { hypervisorId, serviceId, names }
  }
  const as = (hypervisorId: string, serviceId: string, host: string, hypervisorHostname: string) => ({
    hypervisorId,
    serviceId,
    names: { host, hypervisorHostname }
  })
  t.strictSame(known(done(), found(other)), as('new-id', 'new-service', 'h', 'h.example.com'))
  t.strictSame(known(done(), lost), as('hv-id', 'service-id', 'host-1', 'host-1'))
  const waiting: Step = { do: 'wait', at: 'Registering', waitingFor: 'x' }
  const fresh = hypervisor({}, { hypervisorId: '', serviceId: '', nova: {} })
  t.strictSame(Object.keys(told(fresh, waiting)), ['conditions', 'onboarding'], 'none')
  t.strictSame(Object.keys(told(done(), found(), false)), ['hypervisorId', 'serviceId', 'conditions'], 'HV-4')
})

t.test('HV-28: a host that registered anew is drift', async t => {
  const drift = (given: Hypervisor, step: Step) => ({ drift: undefined, ...told(given, step) }).drift
  const entry = (name: string, expected: string, actual: string, action: 'repaired' | 'reported') =>
    ({ kind: 'ids', name, expected, actual, action, since: time }) as const
  t.equal('drift' in told(done(), found()), false, 'the same')
  t.strictSame(drift(done(), found(other)), [
    entry('hypervisorId', 'hv-id', 'new-id', 'repaired'),
    entry('serviceId', 'service-id', 'new-service', 'repaired')
  ])
  t.strictSame(drift(done(), lost), [entry('hypervisorId', 'hv-id', 'not registered', 'reported')])
  const { hypervisorId: _, serviceId: __, ...status } = done().status ?? { numInstances: 0 }
  t.strictSame(
    drift({ ...done(), status }, found()),
    [entry('hypervisorId', '', 'hv-id', 'repaired'), entry('serviceId', '', 'service-id', 'repaired')],
    'HV-27: never noted'
  )
  const repaired = { kind: 'ids', name: 'serviceId', action: 'repaired', since: '2026-11-16T11:30:00Z' } as const
  t.strictSame(
    drift(done({ drift: [repaired, { ...repaired, kind: 'trait' }] }), found()),
    [repaired],
    'a repair of its own is told for an hour'
  )
})

t.test('HV-67: what was done is a line of the history', async t => {
  const line = (kind: string, to: string, reason: string, from?: string) => ({
    id: `${kind} ${to} ${time}`,
    time,
    kind,
    ...(from && { from }),
    to,
    reason,
    actor: 'drover-onboarding'
  })
  const history = (given: Hypervisor, step: Step) => ({ history: undefined, ...told(given, step) }).history
  t.equal('history' in told(done(), found()), false, 'nothing was done')
  t.strictSame(history(at('Handover'), { do: 'succeed', host: nova() }), [
    line('onboarding', 'Succeeded', 'Handed over, without high availability.', 'Handover')
  ])
  const two = history(at('Testing'), { do: 'clean', at: 'Testing', servers: ['id-1', 'id-2'], host: nova() })
  t.strictSame(
    two,
    ['id-1', 'id-2'].map(id => line(`test server ${id}`, 'deleted', 'the tests are over')),
    'each under an id of its own: the list is a map'
  )
})
