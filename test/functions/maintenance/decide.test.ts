// Long: one table, as the specification has one. §3.4: what each mode asks of the compute service and of the Eviction, and whose doings are left alone.
import type { ComputeService } from 'openstack-sdk-lite'
import t from 'tap'
import { decide, isOpen, isOurs, modeOf, type Mode, type Seen, type Step } from '../../../functions/maintenance/decide.ts'
import { reflect } from '../../../functions/maintenance/reflect.ts'
import { stampFor } from '../../../shared/rules/maintenance-stamp.ts'
import type { Eviction } from '../../../shared/schema/eviction.ts'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { condition, hypervisor, now, type Status } from '../host-life/fixtures.ts'

const nowMs = now.getTime()
const service = (given: Partial<ComputeService> = {}): ComputeService => ({
  id: 'service-id',
  host: 'host-1',
  binary: 'nova-compute',
  zone: 'z1',
  status: 'enabled',
  state: 'up',
  forcedDown: false,
  disabledReason: null,
  updated: null,
  ...given
})
const disabled = (disabledReason: string | null, more: Partial<ComputeService> = {}) =>
  service({ status: 'disabled', disabledReason, ...more })
const ours = disabled('drover: maintenance=manual: new fans (drover-maintenance)')
const owner = { apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor', name: 'host-1', uid: 'u', controller: true }
const eviction = (status: Eviction['status'] = {}, spec: Partial<Eviction['spec']> = {}, isOwned = true): Eviction => ({
  metadata: { name: 'host-1', ...(isOwned && { ownerReferences: [owner] }) },
  spec: { hypervisor: 'host-1', reason: 'x', ...spec },
  status
})
const running = { startedAt: '2026-11-16T11:00:00Z' }
const ended = (verdict: NonNullable<Eviction['status']>['verdict']) => ({
  ...running,
  ...(verdict && { verdict }),
  finishedAt: 'F'
})
const host = (maintenance: Hypervisor['spec']['maintenance'], status: Partial<Status> = {}) =>
  hypervisor({ ...(maintenance !== undefined && { maintenance }) }, { conditions: [condition('Onboarding', 'False')], ...status })
const seen = (given: Hypervisor, more: Partial<Seen> = {}): Seen => ({
  hypervisor: given,
  eviction: undefined,
  service: service(),
  takeover: false,
  extended: true,
  ...more
})
const step = (given: Hypervisor, more: Partial<Seen> = {}): Step => decide(seen(given, more), nowMs)
const none = { do: 'leave' } as const

for (const mode of ['manual', 'auto', 'termination'] as const) {
  void t.test(`${mode}: disabled with a reason, an Eviction ensured`, async t => {
    t.match(step(host(mode)), { mode, service: { do: 'disable' }, eviction: { do: 'ensure', retryToken: undefined } })
    t.match(step(host(mode), { service: ours }), { service: none, eviction: { do: 'ensure' } }, 'once')
    t.match(step(host(mode), { service: disabled('bad fans') }), { service: none }, 'HV-32: the reason of others stays')
    t.match(step(host(mode), { service: undefined }), { service: none, eviction: { do: 'ensure' } }, 'an outage of Nova')
    t.match(step(host(mode), { eviction: eviction(running) }), { eviction: { do: 'ensure' } }, 'HV-47: kept under another mode')
  })
}

void t.test('"": the Eviction ends, goes, then the host is enabled (HV-47)', async t => {
  const cancel = { service: none, eviction: { do: 'cancel', how: 'Finish' }, waitingFor: 'the Eviction to end' }
  const remove = { service: none, eviction: { do: 'delete' }, waitingFor: 'the Eviction to be gone' }
  t.match(step(host(''), { eviction: eviction(running), service: ours }), cancel)
  t.match(step(host(''), { eviction: eviction(running), service: ours, extended: false }), remove, 'HV-4: no word to cancel it')
  t.match(step(host(''), { eviction: eviction(ended('Cancelled')), service: ours }), remove)
  t.match(step(host(''), { eviction: eviction(), service: ours }), { eviction: { do: 'delete' } }, 'it never began')
  const clearedMs = (ms: number) => host('', { maintenance: { mode: '', since: new Date(nowMs - ms).toISOString() } })
  const moves = (...instances: NonNullable<NonNullable<Eviction['status']>['instances']>) => eviction({ ...running, instances })
  const stop = (ms: number, given: Eviction) => step(clearedMs(ms), { eviction: given, service: ours }).eviction.do
  t.equal(stop(119_999, moves()), 'cancel')
  t.equal(stop(120_000, moves()), 'delete', 'nothing moves: two minutes are enough')
  t.equal(stop(3_600_000, moves({ id: 'vm-1', state: 'Migrating' })), 'cancel', 'a running move ends first')
  t.equal(stop(3_600_000, moves({ id: 'vm-1', state: 'Confirming' })), 'cancel', 'a cold move is confirmed first')
  t.equal(stop(3_600_000, moves({ id: 'vm-1', state: 'Queued' })), 'cancel', 'a move in Nova’s queue may still begin')
  t.equal(stop(7_319_999, moves({ id: 'vm-1', state: 'Migrating' })), 'cancel')
  t.equal(stop(7_320_000, moves({ id: 'vm-1', state: 'Migrating' })), 'delete', 'no move is awaited for ever')
  const endedMs = (ms: number) => ({ id: 'vm-1', state: 'Done' as const, finishedAt: new Date(nowMs - ms).toISOString() })
  t.equal(stop(3_600_000, moves(endedMs(119_000), { id: 'vm-2', state: 'Waiting' })), 'cancel', 'the verdict has two minutes')
  t.equal(stop(3_600_000, moves(endedMs(120_000), { id: 'vm-2', state: 'Waiting' })), 'delete')
  t.equal(stop(119_000, moves(endedMs(600_000))), 'cancel', 'an end before the mode was cleared does not count')
  t.match(step(host(''), { service: ours }), { service: { do: 'enable' }, eviction: none })
  t.match(step(host('')), { service: none, eviction: none })
})

void t.test('§3.4, HA-41: maintenance forces nothing down, so it clears no forced_down, and enables no such service', async t => {
  const done = (given: ComputeService, takeover = false) => step(host(''), { service: given, takeover }).service
  const forced = { do: 'report', actual: 'forced down' }
  for (const takeover of [false, true]) {
    t.strictSame(done(service({ forcedDown: true }), takeover), forced)
    t.strictSame(done({ ...ours, forcedDown: true }, takeover), forced, 'disabled by us')
    t.strictSame(done(disabled('bad fans', { forcedDown: true }), takeover), forced, 'disabled by others')
  }
  for (const reason of ['drover:ha Fenced 8f3c', 'drover: ha: dead (drover-failover)', 'Hypervisor CRD: spec.maintenance=ha'])
    for (const forcedDown of [true, false]) t.strictSame(done(disabled(reason, { forcedDown })), none, `HA-31: ${reason}`)
  t.strictSame(done(ours), { do: 'enable' })
})

void t.test('HV-32: the reason carries the mode, the words of the person, and the name that admission stamped', async t => {
  const given = host('manual')
  const asked = { ...given, spec: { ...given.spec, maintenanceReason: 'new fans' } }
  const stamp = stampFor(asked, host(''), 'jane', now)
  const annotations = Object.fromEntries(
    Object.entries(stamp).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]))
  )
  const stamped = { ...asked, metadata: { ...asked.metadata, annotations } }
  t.strictSame(step(stamped).service, {
    do: 'disable',
    reason: 'drover: maintenance=manual: new fans (asked by jane, drover-maintenance)'
  })
  t.strictSame(step(given).service, { do: 'disable', reason: 'drover: maintenance=manual (drover-maintenance)' })
})

void t.test('HV-32: whose disabling is undone', async t => {
  const done = (reason: string | null, takeover = false) => step(host(''), { service: disabled(reason), takeover }).service.do
  t.equal(done('Hypervisor CRD: spec.maintenance=manual'), 'enable', 'of the operator before us')
  t.strictSame(step(host(''), { service: disabled('bad fans') }).service, { do: 'report', actual: 'disabled: bad fans' })
  t.strictSame(step(host(''), { service: disabled(null) }).service, { do: 'report', actual: 'disabled: no reason given' })
  t.equal(done('bad fans', true), 'enable')
  t.equal(done('drover: ha: two bonds down (drover-ha)'), 'leave', 'ha has its own eye on it')
  t.equal(done('drover: eviction=host-1: maintenance=manual (drover-evict)'), 'enable', 'the drain of our own maintenance')
  t.equal(done('drover: eviction=by-hand: please (drover-evict)'), 'leave', 'EV-2: it enables the host itself, if asked to')
  t.equal(done('drover: eviction=host-10: please (drover-evict)'), 'leave', 'EV-2: a longer name is another')
})

void t.test('EV-2: an Eviction that a person made works alone, also under the name of the host', async t => {
  for (const status of [{}, running, ended('Succeeded')]) {
    const given = seen(host(''), {
      eviction: eviction(status, {}, false),
      service: disabled('drover: eviction=host-1: by hand (drover-evict)')
    })
    const left = decide(given, nowMs)
    t.match(left, { service: none, eviction: none })
    const outcome = { service: given.service, eviction: given.eviction, findings: [], actions: [] }
    const told = reflect(given, left, outcome, now, true)
    t.strictSame(
      told.conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`),
      ['HypervisorDisabled True Succeeded'],
      'no drift, and no maintenance of ours'
    )
    t.strictSame(Object.keys(told.maintenance ?? {}), ['mode', 'since'], 'and no Eviction of ours')
  }
})

void t.test('EV-2: an Eviction is ours if the host is its controller', async t => {
  const done = (...ownerReferences: Array<typeof owner>) =>
    step(host(''), { eviction: { ...eviction(running), metadata: { name: 'host-1', ownerReferences } } }).eviction.do
  const other = { ...owner, kind: 'RollingMaintenance' }
  t.equal(done({ ...other, controller: false }, owner), 'cancel')
  t.equal(done({ ...owner, controller: false }), 'leave')
  t.equal(done(other), 'leave')
  t.equal(done(other, { ...owner, controller: false }), 'leave')
})

void t.test('HV-46: a server on the drained host opens it again', async t => {
  const vm = (id: string, active = true) => ({ id, name: 'a', active })
  const drained = host('manual', { instances: [vm('vm-0', false), vm('vm-1'), vm('vm-2')] })
  const done = { eviction: eviction(ended('Succeeded')) }
  t.match(step(drained, done), { appeared: 'vm-1', eviction: { do: 'ensure', retryToken: 'F/vm-1' } })
  t.match(step(drained, { ...done, extended: false }), { appeared: 'vm-1', eviction: { do: 'delete' } }, 'HV-4')
  const again = { eviction: eviction(ended('Succeeded'), { retryToken: 'F/vm-1' }) }
  t.equal('appeared' in step(drained, again), false, 'once: it is being opened')
  t.match(step(drained, again), { eviction: { retryToken: 'F/vm-1' } }, 'the token stays')
  const twice = eviction({ ...ended('Succeeded'), retryToken: 'E/vm-3' }, { retryToken: 'E/vm-3' })
  t.match(step(drained, { eviction: twice }), { appeared: 'vm-1', eviction: { retryToken: 'F/vm-1' } }, 'and drained again')
  const adopted = eviction({ ...running, conditions: [condition('Evicting', 'False', 'Succeeded')] })
  t.strictSame(
    step(drained, { eviction: adopted }).eviction,
    { do: 'ensure', retryToken: '/vm-1' },
    'HV-27: of the operator before us'
  )
  t.equal('appeared' in step(host('manual', { instances: [vm('vm-1', false)] }), done), false)
  t.equal('appeared' in step(drained, { eviction: eviction(running) }), false)
  t.match(step(drained, { eviction: eviction(running), extended: false }), { eviction: { do: 'ensure' } }, 'HV-4: it runs')
})

void t.test('HV-47: cleared and set again while its Eviction was being stopped: it begins anew', async t => {
  t.match(step(host('manual'), { eviction: eviction(ended('Cancelled'), { cancel: 'Abort' }) }), {
    eviction: { do: 'ensure', retryToken: 'F/given up' }
  })
  const anew = eviction(ended('Cancelled'), { retryToken: 'F/given up' })
  t.match(step(host('manual'), { eviction: anew }), { eviction: { retryToken: 'F/given up' } }, 'once')
  const asked = eviction(ended('Cancelled'), { retryToken: 'please' })
  t.match(step(host('manual'), { eviction: asked }), { eviction: { retryToken: 'please' } }, 'somebody has begun it anew')
  t.match(
    step(host('manual'), { eviction: eviction(ended('Cancelled')), extended: false }),
    { eviction: { do: 'delete' } },
    'HV-4'
  )
  t.match(step(host('manual'), { eviction: eviction(ended('Incomplete')) }), {
    eviction: { do: 'ensure', retryToken: undefined }
  })
})

void t.test('HV-44: not while onboarding runs, and not in mode ha; whatever the lifecycle says', async t => {
  const isOf = (spec: Partial<Hypervisor['spec']>, ...conditions: ReturnType<typeof condition>[]) =>
    isOurs(hypervisor(spec, { conditions }))
  t.equal(isOf({ maintenance: 'auto' }, condition('Onboarding', 'True', 'Testing')), false)
  t.equal(isOf({ maintenance: 'ha' }, condition('Onboarding', 'False')), false)
  t.equal(isOf({ maintenance: 'auto', lifecycleEnabled: false }), true)
})

void t.test('NA-21: a shutdown is a mode of its own, until the next boot', async t => {
  const annotations = { 'kvm.cloud.sap/emergency': 'true', 'kvm.cloud.sap/boot-id': 'b1' }
  const urgent: Eviction = { ...eviction(running), metadata: { name: 'host-1', annotations } }
  const at = (bootId: string | undefined, given: Hypervisor = host('')): Mode =>
    modeOf({ ...given, status: { ...given.status, numInstances: 0, ...(bootId && { agent: { bootId } }) } }, urgent)
  t.equal(at('b1'), 'shutdown')
  t.equal(at(undefined), 'shutdown')
  t.equal(at('b2'), '', 'it is back')
  t.equal(at('b1', host('manual')), 'manual', 'a person’s mode comes first')
})

void t.test('HV-45: evicted is said of an empty host alone', async t => {
  const told = (verdict: NonNullable<Eviction['status']>['verdict'] | undefined) => {
    const given = seen(host('manual'), { service: ours, eviction: eviction(verdict ? ended(verdict) : running) })
    const { service, eviction: found } = given
    const { evicted, conditions } = reflect(
      given,
      decide(given, nowMs),
      { service, eviction: found, findings: [], actions: [] },
      now,
      true
    )
    const evicting = conditions?.find(({ type }) => type === 'Evicting')
    return `${evicted} ${evicting?.status} ${evicting?.reason}`
  }
  t.equal(told(undefined), 'false True Running')
  t.equal(told('Succeeded'), 'true False Succeeded')
  t.equal(told('SucceededWithExclusions'), 'false True Blocked')
  for (const verdict of ['Incomplete', 'Failed', 'HostMissing'] as const) t.equal(told(verdict), 'false True Failed', verdict)
})

void t.test('the fast tick looks at hosts under way', async t => {
  const open = (given: Hypervisor) => isOpen(given, nowMs)
  const evicting = (status: 'True' | 'False') => [condition('Onboarding', 'False'), condition('Evicting', status)]
  t.equal(open(host('manual')), true)
  t.equal(open(host('manual', { maintenance: { mode: 'manual' }, conditions: evicting('True') })), true)
  t.equal(open(host('manual', { maintenance: { mode: 'manual' }, conditions: evicting('False') })), false)
  t.equal(open(host('', { conditions: evicting('False') })), true, 'cleared')
  t.equal(open(host('')), false)
  t.equal(open(host(undefined)), false)
  t.equal(open(host('auto', { maintenance: { mode: 'manual' }, conditions: evicting('False') })), true, 'another mode')
  t.equal(open(host('ha')), false, 'not ours')
  t.equal(open(host('', { conditions: [condition('HypervisorDisabled', 'True')] })), true, 'to be enabled')
  const ago = (ms: number) => new Date(nowMs - ms).toISOString()
  const signal = (effect: 'alert' | 'disable' | 'drain', more: { since?: string; dueAt?: string } = {}) => ({
    ha: { signals: [{ kind: 'BondLost', object: 'bond0', since: now.toISOString(), effect, message: '', ...more }] }
  })
  t.equal(open(host('', signal('disable'))), true, 'high availability is about to disable it')
  t.equal(open(host('', signal('drain'))), true)
  t.equal(open(host('', signal('alert'))), false)
  t.equal(open(host('', signal('disable', { since: ago(600_000), dueAt: ago(119_999) }))), true)
  t.equal(open(host('', signal('disable', { since: ago(600_000), dueAt: ago(120_000) }))), false, 'it did, or it never will')
  t.equal(open(host('', signal('disable', { since: ago(120_000) }))), false)
})
