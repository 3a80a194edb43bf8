// What an agent that was started anew must not change in the status (NA-9)
import t from 'tap'
import { step, type Domains } from '../../../agents/hypervisor/domains.ts'
import type { Known } from '../../../agents/hypervisor/known.ts'
import type { DomainRead, Fact } from '../../../agents/hypervisor/libvirt/fact.ts'
import { statusOf } from '../../../agents/hypervisor/status/status.ts'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'

const [lastWeek, now, later] = ['2026-11-10T08:00:00.000Z', '2026-11-17T08:00:00.000Z', '2026-11-17T09:00:00.000Z']
const read = (id: string, state: string): DomainRead => ({ id, name: id, state, reason: 'x' })
const snapshot = (...domains: DomainRead[]): Fact => ({ kind: 'snapshot', epoch: 1, domains })
const known = (facts: Partial<Known>): Known => ({
  host: 'h',
  version: '1',
  libvirtUri: 'u',
  bootId: 'b',
  uptimeSeconds: 1,
  sequence: 1,
  lastHeartbeat: now,
  units: [],
  problems: new Map(),
  countInactive: true,
  ...facts
})
const told = (instances: object[], operatingSystem = {}) =>
  ({ metadata: { name: 'h' }, spec: {}, status: { instances, operatingSystem } }) as unknown as Hypervisor
const since = (domains: Domains, live: Hypervisor) =>
  Object.fromEntries(
    (statusOf(known({ domains }), live, new Date(now)).instances ?? []).map(one => [one.id, `${one.state} ${one.since}`])
  )

t.test('a domain that was off for a week is off for a week, whoever looks', async t => {
  const live = told([
    { id: 'same', name: 'same', active: false, state: 'off', since: lastWeek },
    { id: 'died', name: 'died', active: true, state: 'running', since: lastWeek },
    { id: 'plain', name: 'plain', active: true } // as the software before us wrote it
  ])
  const first = step(
    undefined,
    snapshot(read('same', 'off'), read('died', 'off'), read('plain', 'running'), read('new', 'off')),
    now
  )
  const expected = {
    died: `off ${now}`,
    new: `off ${now}`,
    plain: `running ${now}`,
    same: `off ${lastWeek}`
  }
  t.strictSame(since(first.domains, live), expected, 'what changed while nobody looked is new; the rest is not')
  const again = step(
    first.domains,
    snapshot(read('same', 'off'), read('died', 'off'), read('plain', 'running'), read('new', 'off')),
    later
  )
  t.strictSame(since(again.domains, live), expected, 'nor does a later listing make it new')

  const started = step(again.domains, snapshot(read('same', 'running')), later)
  const stopped = step(started.domains, snapshot(read('same', 'off')), '2026-11-17T09:30:00.000Z')
  t.strictSame(since(stopped.domains, live), { same: 'off 2026-11-17T09:30:00.000Z' }, 'but a new stop is')
})

t.test('the hardware does not vanish while hostnamed cannot be asked', async t => {
  const live = told([], { hardwareModel: 'Box 9', variantID: 'of the last version', version: '1' })
  const { operatingSystem } = statusOf(known({ os: { version: '2' } }), live, new Date(now))
  t.strictSame(operatingSystem, { hardwareModel: 'Box 9', version: '2' })
})
