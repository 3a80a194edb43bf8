// NA-8, NA-9: what is known of the domains, from facts in any order. And which event each change is (spec/ha.md §2).
import type { DomainEvent } from 'node-libvirt'
import t from 'tap'
import { step, type Domains } from '../../../agents/hypervisor/domains.ts'
import type { DomainRead, Fact } from '../../../agents/hypervisor/libvirt/fact.ts'
import { lifecycleKind, toEvents } from '../../../agents/hypervisor/to-event.ts'
import { short } from './harness.ts'

const at = '2026-11-16T12:00:00.000Z'
const context = { host: 'h', bootId: 'b', epoch: 7, at }
const read = (id: string, state = 'running', reason = 'booted'): DomainRead => ({ id, name: `n-${id}`, state, reason })
const snapshot = (...domains: DomainRead[]): Fact => ({ kind: 'snapshot', epoch: 7, domains })
const lifecycle = (id: string, event: string, detail: string): Fact => ({
  kind: 'event',
  epoch: 7,
  at: new Date(at),
  event: { kind: 'lifecycle', domain: { uuid: id, name: `n-${id}`, id: 1 }, event, detail } as DomainEvent
})
const play = (facts: Fact[], known?: Domains) => {
  let domains = known
  const told: Array<[type: string, about: unknown]> = []
  for (const fact of facts) {
    const taken = step(domains, fact, at)
    domains = taken.domains
    for (const { kind, data } of toEvents(fact, taken, context)) {
      const { event, detail, cause, instances } = data as Record<string, any>
      told.push([
        short(kind.type),
        instances?.map((one: any) => `${one.id} ${one.state}`) ?? [event, detail, cause].filter(Boolean).join('/')
      ])
    }
  }
  return { states: [...(domains ?? new Map())].map(([id, { state }]) => `${id} ${state}`), told }
}

t.test('the first listing is no news, only a report', async t => {
  t.strictSame(play([snapshot(read('b'), read('a', 'off', 'shutdown'))]), {
    states: ['a off', 'b running'],
    told: [['instances.reported', ['a off', 'b running']]]
  })
})

t.test('ha.md §2, control info: kept while libvirt cannot manage it, said once when it can again', async t => {
  const control = (state: string): DomainRead => ({ ...read('a'), control: { state, details: 'none' } })
  const after = (...facts: Fact[]): unknown => {
    let domains: Domains | undefined
    for (const fact of facts) domains = step(domains, fact, at).domains
    return domains?.get('a')?.control
  }
  const lost: Fact = { kind: 'domain', epoch: 7, id: 'a', read: control('error') }
  const back: Fact = { kind: 'domain', epoch: 7, id: 'a', read: control('ok') }
  const first = snapshot(read('a'))
  t.strictSame(after(first), undefined)
  t.strictSame(after(first, lost), { state: 'error', details: 'none', checkedAt: at })
  t.match(after(first, lost, snapshot(read('a'))), { state: 'error' }, 'a listing does not ask')
  t.match(after(first, lost, back), { state: 'ok' })
  t.strictSame(after(first, lost, back, snapshot(read('a'))), undefined)
  t.strictSame(after(first, lost, lifecycle('a', 'stopped', 'failed')), undefined)
})

t.test('what a later listing shows is told as what happened', async t => {
  const { told, states } = play([
    snapshot(read('gone'), read('off'), read('crash'), read('pause'), read('same')),
    snapshot(
      read('off', 'off', 'destroyed'),
      read('crash', 'off', 'crashed'),
      read('pause', 'paused', 'io-error'),
      read('same'),
      read('new')
    )
  ])
  t.strictSame(told.slice(1), [
    ['domain.stopped', 'stopped/destroyed'],
    ['domain.crashed', 'stopped/crashed'],
    ['disk.failed', ''],
    ['domain.changed', 'started/booted'],
    ['domain.stopped', 'stopped/unknown'],
    ['instances.reported', states]
  ])
})

t.test('a listing knows nothing of those an event came for meanwhile', async t => {
  const { states } = play([
    snapshot(read('old')),
    lifecycle('new', 'started', 'booted'),
    { kind: 'snapshot', epoch: 7, domains: [], except: new Set(['new', 'old']) }
  ])
  t.strictSame(states, ['new running', 'old running'])
})

t.test('an old event after the listing does not bring a dead domain back', async t => {
  t.strictSame(play([snapshot(), lifecycle('x', 'stopped', 'destroyed')]).states, [])
  const late = play([
    snapshot(),
    lifecycle('x', 'started', 'booted'),
    lifecycle('x', 'stopped', 'destroyed'),
    { kind: 'domain', epoch: 7, id: 'x', read: undefined }
  ])
  t.strictSame(late.states, [])
})

t.test('who began a stop is told with it', async t => {
  const { told } = play([snapshot(read('x')), lifecycle('x', 'shutdown', 'by-guest'), lifecycle('x', 'stopped', 'shutdown')])
  t.strictSame(told.slice(1), [
    ['domain.stopped', 'shutdown/by-guest'],
    ['domain.stopped', 'stopped/shutdown/by-guest'],
    ['instances.reported', ['x off']]
  ])
})

t.test('NA-9: a domain that cannot be read is what it was before', async t => {
  const { states, told } = play([
    snapshot(read('x', 'off', 'shutdown')),
    snapshot(read('x', 'unknown', 'timeout'), read('new', 'unknown', 'timeout')),
    { kind: 'domain', epoch: 7, id: 'x', read: read('x', 'unknown', 'timeout') }
  ])
  t.strictSame(states, ['new unknown', 'x off'])
  t.strictSame(told.slice(1), [
    ['domain.changed', 'unknown/timeout'],
    ['instances.reported', ['new unknown', 'x off']]
  ])
})

t.test('the time of a state moves with the state', async t => {
  const later = '2026-11-16T13:00:00.000Z'
  const first = step(undefined, snapshot(read('x')), at).domains
  t.equal(step(first, snapshot(read('x')), later).domains.get('x')?.since, at)
  t.equal(step(first, snapshot(read('x', 'paused')), later).domains.get('x')?.since, later)
})

const rows: Array<[type: string, changes: string]> = [
  [
    'domain.changed',
    'defined/added undefined/removed started/booted started/migrated resumed/unpaused suspended/paused suspended/migrated suspended/restored suspended/from-snapshot suspended/post-copy suspended/io-error suspended/watchdog pm-suspended/memory stopped/migrated stopped/saved stopped/from-snapshot'
  ],
  ['domain.stopped', 'shutdown/by-guest shutdown/by-host stopped/shutdown stopped/destroyed'],
  ['domain.crashed', 'stopped/crashed stopped/failed crashed/panicked crashed/crashloaded suspended/api-error'],
  ['postcopy.failed', 'suspended/post-copy-failed resumed/post-copy-failed']
]
for (const [type, changes] of rows)
  for (const change of changes.split(' ')) {
    const [event = '', detail = ''] = change.split('/')
    t.equal(short(lifecycleKind(event, detail).type), type, change)
  }

const about = { uuid: 'u', name: 'n', id: 1 }
const faults: Array<[event: object, type: string, data: object]> = [
  [{ kind: 'reboot' }, 'domain.rebooted', {}],
  [{ kind: 'watchdog', action: 'pause' }, 'watchdog.fired', { action: 'pause' }],
  [{ kind: 'watchdog', action: 99 }, 'watchdog.fired', { action: '99' }],
  [
    { kind: 'io-error-reason', path: '/p', device: 'vda', action: 'pause', reason: 'enospc' },
    'disk.failed',
    { device: 'vda', path: '/p', action: 'pause', reason: 'enospc' }
  ],
  [{ kind: 'control-error' }, 'domain-control.lost', {}],
  [{ kind: 'agent-lifecycle', state: 'connected', reason: 'channel' }, 'guest-agent.connected', { reason: 'channel' }],
  [{ kind: 'agent-lifecycle', state: 'disconnected', reason: 'channel' }, 'guest-agent.disconnected', { reason: 'channel' }],
  [
    { kind: 'memory-failure', recipient: 'guest', action: 'fatal', actionRequired: true, recursive: false },
    'memory.failed',
    { recipient: 'guest', action: 'fatal', actionRequired: true, recursive: false }
  ]
]
for (const [event, type, data] of faults) {
  t.test(`${type} ${JSON.stringify(data)}`, async t => {
    const fact = { kind: 'event', epoch: 7, at: new Date(at), event: { ...event, domain: about } } as Fact
    const [message, ...more] = toEvents(fact, step(new Map(), fact, at), context)
    t.strictSame(more, [])
    t.equal(short(message?.kind.type ?? ''), type)
    t.strictSame(message?.data, { ...context, server: 'u', name: 'n', ...data })
  })
}
t.strictSame(
  toEvents(
    { kind: 'event', epoch: 7, at: new Date(at), event: { kind: 'io-error', domain: about } as DomainEvent },
    step(new Map(), snapshot(), at),
    context
  ),
  [],
  'the event without a reason is not told a second time'
)
