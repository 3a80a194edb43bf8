// EV-12, EV-18, EV-25: a move under way, until it ends or is given up.
import t from 'tap'
import type { Judged } from '../../../functions/evict/judge.ts'
import { countedOf, iso, watch } from '../../../functions/evict/moves.ts'
import type { MoveRecord } from '../../../functions/evict/records.ts'
import type { Entry } from '../../../functions/evict/seen.ts'
import type { Eviction } from '../../../shared/schema/eviction.ts'
import { eviction, place, seen } from './seen.ts'
import { ago, now, record } from './server.ts'
import { options } from './options.ts'

type Said = { entry: Partial<Entry> } & Omit<Partial<Judged>, 'entry'>
const say = (entry: Partial<Entry>, more: Partial<Judged> = {}): Judged => ({ entry, ...more }) as unknown as Judged
const entry = (more: Partial<Entry> = {}): Entry => ({ id: 's', state: 'Migrating', ...more })
const seconds = (ms: number): string => iso(now + ms)

t.test('EV-12: a record that is seen for the first time is one more started move', async t => {
  const after = (before: Entry | undefined) => countedOf(before, record({ id: 7 }))
  t.strictSame(after(undefined), { attempts: 1, migrationId: '7' })
  t.strictSame(after(entry({ attempts: 2, migrationId: '6' })), { attempts: 3, migrationId: '7' })
  t.strictSame(after(entry({ attempts: 2, migrationId: '7' })), { attempts: 2, migrationId: '7' })
  t.strictSame(after(entry({ attempts: 2, migrationId: '8' })), { attempts: 2, migrationId: '7' })
  t.strictSame(countedOf(entry(), record({ id: 1 })), { attempts: 1, migrationId: '1' })
  t.equal(iso(now + 1), '2026-11-16T12:00:00Z', 'whole seconds')
})

const moving = record({ id: 7, created: ago(3) })
const overMs = now + 27 * 60_000 // thirty minutes after its start
const going = (more: Partial<Entry> = {}): Partial<Entry> => ({
  state: 'Migrating',
  startedAt: seconds(-180_000),
  attempts: 1,
  migrationId: '7',
  destination: 'hv2',
  reason: 'running',
  ...more
})
const abort = (why: 'TimedOut' | 'Cancelled') => ({ call: { do: 'abort', server: 's', record: 7, why } as const })
const once = (ms: number) => ({ aborts: 1, abortedAt: iso(ms) })
const givenUp = (reason: string, aborts: number, ms: number): Entry =>
  entry({ attempts: 1, migrationId: '7', startedAt: seconds(-180_000), reason, aborts, abortedAt: iso(ms) })
type Watched = {
  record?: MoveRecord | undefined
  before?: Entry
  spec?: Partial<Eviction['spec']>
  nowMs?: number
  metadata?: Partial<Eviction['metadata']>
}
const ofMaintenance = {
  ownerReferences: [{ apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor', name: 'hv1', uid: 'u', controller: true }]
}

const watched: Array<[name: string, given: Watched, wanted: Said]> = [
  ['under way', {}, { entry: going(), dueMs: overMs }],
  [
    'without a record',
    { record: undefined },
    {
      entry: {
        state: 'Migrating',
        reason: 'NoRecord',
        message: 'Nova says that it is migrating and shows no record of it yet.'
      }
    }
  ],
  ...(
    [
      ['pre-migrating', 'Migrating', 'preMigrating'],
      ['finished', 'Confirming', 'finished'],
      ['confirming', 'Confirming', 'confirming']
    ] as const
  ).map(([status, state, reason]): (typeof watched)[number] => [
    `Nova says ${status}`,
    { record: { ...moving, status } },
    { entry: going({ state, reason }), dueMs: overMs }
  ]),
  ...(['queued', 'accepted'] as const).map((status): (typeof watched)[number] => [
    `EV-18: time in Nova's queue is not time of the move: ${status}`,
    { record: { ...moving, status }, nowMs: overMs + 3_600_000 },
    { entry: going({ state: 'Queued', reason: status }) }
  ]),
  [
    'EV-18: it has just left the queue',
    { before: entry({ attempts: 1, migrationId: '7', state: 'Queued', startedAt: ago(600) }), nowMs: overMs },
    { entry: going({ startedAt: iso(overMs) }), dueMs: overMs + 30 * 60_000 }
  ],
  [
    'EV-18: another of its moves has just begun',
    { before: entry({ attempts: 1, migrationId: '6', state: 'Queued', startedAt: ago(600) }) },
    { entry: going({ attempts: 2 }), dueMs: overMs }
  ],
  [
    'EV-18: it left the queue some time ago',
    { before: entry({ attempts: 1, migrationId: '7', startedAt: ago(1) }) },
    { entry: going({ startedAt: ago(1).replace('.000', '') }), dueMs: now + 29 * 60_000 }
  ],
  [
    'nobody has chosen a host yet',
    { record: { ...moving, target: null } },
    {
      entry: { state: 'Migrating', startedAt: seconds(-180_000), attempts: 1, migrationId: '7', reason: 'running' },
      dueMs: overMs
    }
  ],
  ['EV-18: its time is nearly over', { nowMs: overMs - 1 }, { entry: going(), dueMs: overMs }],
  ['EV-18: its time is over', { nowMs: overMs }, { entry: going({ reason: 'TimedOut', ...once(overMs) }), ...abort('TimedOut') }],
  [
    'EV-18: by its own time',
    { spec: { timeoutPerInstance: '3m' } },
    { entry: going({ reason: 'TimedOut', ...once(now) }), ...abort('TimedOut') }
  ],
  [
    'EV-18: forced to its end, if wanted',
    { nowMs: overMs, spec: { onTimeout: 'forceComplete' } },
    { entry: going({ reason: 'TimedOut', ...once(overMs) }), call: { do: 'force', server: 's', record: 7, why: 'TimedOut' } }
  ],
  [
    'EV-18: … but what has not begun to copy is given up',
    { nowMs: overMs, spec: { onTimeout: 'forceComplete' }, record: { ...moving, status: 'preparing' } },
    { entry: going({ reason: 'TimedOut', ...once(overMs) }), ...abort('TimedOut') }
  ],
  [
    'EV-18: past the point of return it is watched',
    { nowMs: overMs, record: { ...moving, status: 'post-migrating' } },
    { entry: going({ reason: 'postMigrating' }) }
  ],
  [
    'EV-18: given up a moment ago',
    { nowMs: overMs, before: givenUp('TimedOut', 1, overMs - 59_000) },
    { entry: going({ reason: 'TimedOut', aborts: 1, abortedAt: iso(overMs - 59_000) }), dueMs: overMs + 1000 }
  ],
  [
    'EV-12a: given up a minute ago, without effect',
    { nowMs: overMs, before: givenUp('TimedOut', 2, overMs - 60_000) },
    { entry: going({ reason: 'TimedOut', aborts: 3, abortedAt: iso(overMs) }), ...abort('TimedOut') }
  ],
  [
    'EV-12a: given up three times',
    { nowMs: overMs, before: givenUp('TimedOut', 3, overMs - 3_600_000) },
    {
      entry: going({
        reason: 'TimedOut',
        aborts: 3,
        abortedAt: iso(overMs - 3_600_000),
        message: 'Nova was asked 3 times to give the move up, and has not; its end is waited for.'
      })
    }
  ],
  [
    'EV-12a: another of its moves was given up',
    { nowMs: overMs, before: { ...givenUp('TimedOut', 3, overMs - 3_600_000), migrationId: '6' } },
    { entry: going({ attempts: 2, reason: 'TimedOut', ...once(overMs) }), ...abort('TimedOut') }
  ],
  ['EV-25: Finish lets it go on', { spec: { cancel: 'Finish' } }, { entry: going(), dueMs: overMs }],
  ...(['queued', 'preparing'] as const).flatMap((status): typeof watched => {
    const shown = { record: { ...moving, status }, spec: { cancel: 'Finish' } } as const
    const state = status === 'queued' ? 'Queued' : 'Migrating'
    const due = status === 'queued' ? {} : { dueMs: overMs }
    return [
      [
        `HV-47: the maintenance is over, and it is ${status}`,
        { ...shown, metadata: ofMaintenance },
        { entry: going({ state, reason: 'Cancelled', ...once(now) }), ...abort('Cancelled') }
      ],
      [`EV-25: Finish of an Eviction made by hand: ${status}`, shown, { entry: going({ state, reason: status }), ...due }]
    ]
  }),
  [
    'HV-47: the maintenance is over, and it runs',
    { spec: { cancel: 'Finish' }, metadata: ofMaintenance },
    { entry: going(), dueMs: overMs }
  ],
  ['EV-25: Abort', { spec: { cancel: 'Abort' } }, { entry: going({ reason: 'Cancelled', ...once(now) }), ...abort('Cancelled') }],
  [
    'EV-25: Abort of one in the queue',
    { spec: { cancel: 'Abort' }, record: { ...moving, status: 'queued' } },
    { entry: going({ state: 'Queued', reason: 'Cancelled', ...once(now) }), ...abort('Cancelled') }
  ],
  [
    'EV-25: Abort of what cannot be given up any more',
    { spec: { cancel: 'Abort' }, record: { ...moving, status: 'post-migrating' } },
    { entry: going({ reason: 'postMigrating' }), dueMs: overMs }
  ],
  [
    'EV-25: Abort was asked for',
    { spec: { cancel: 'Abort' }, before: givenUp('Cancelled', 1, now) },
    { entry: going({ reason: 'Cancelled', aborts: 1, abortedAt: iso(now) }), dueMs: now + 60_000 }
  ]
]
for (const [name, given, wanted] of watched) {
  t.test(`watched: ${name}`, async t => {
    const { spec, nowMs = now, metadata } = given
    const shown = 'record' in given ? given.record : moving
    t.strictSame(
      watch(shown, given.before, say, seen({ eviction: eviction(spec, undefined, metadata) }), { ...place, nowMs }, options),
      wanted
    )
  })
}

t.test('EV-18: a copy that does not get closer to its end', async t => {
  const stalled = new Set(['s'])
  const message = 'The guest writes its memory as fast as it is copied; the move may not end by itself.'
  const told = watch(moving, undefined, say, seen({ stalled }), place, options)
  t.strictSame(told, { entry: going({ reason: 'NotConverging', message }), dueMs: overMs })
})
