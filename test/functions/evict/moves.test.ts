// EV-10…EV-12, EV-22: a server that may be moved, and one whose move has failed.
import t from 'tap'
import type { Judged, Scene } from '../../../functions/evict/judge.ts'
import { iso, movable } from '../../../functions/evict/moves.ts'
import type { MoveRecord } from '../../../functions/evict/records.ts'
import type { Entry, Seen } from '../../../functions/evict/seen.ts'
import { eviction, place, seen } from './seen.ts'
import { agoMs, now, record } from './server.ts'
import { options } from './options.ts'

type Said = { entry: Partial<Entry> } & Omit<Partial<Judged>, 'entry'>
const say = (entry: Partial<Entry>, more: Partial<Judged> = {}): Judged => ({ entry, ...more }) as unknown as Judged
const entry = (more: Partial<Entry> = {}): Entry => ({ id: 's', state: 'Migrating', ...more })
const seconds = (ms: number): string => iso(now + ms)

type Given = {
  before?: Entry | undefined
  last?: MoveRecord
  words?: string
  seen?: Partial<Seen>
  scene?: Partial<Scene>
  how?: 'live' | 'cold'
}
const judged = ({ before, last, words, seen: more, scene: other, how = 'live' }: Given) => {
  const around = seen({ words: new Map(words === undefined ? [] : [[7, words]]), ...more })
  return movable(how, before, last, say, around, { ...place, ...other }, options)
}
const waiting = (more: Partial<Entry> = {}): Entry => ({ id: 's', state: 'Waiting', ...more })
const next: Said = { entry: { state: 'Waiting', strategy: 'live', reason: 'Next' }, candidate: 'live' }
const asked = (ms: number) => entry({ state: 'Queued', reason: 'Asked', startedAt: agoMs(ms) })
const phase = (name: 'Settling' | 'Draining' | 'Verifying') => ({ seen: { eviction: eviction({}, { phase: name }) } })
const arrived: Said = { entry: { state: 'Waiting', strategy: 'live', reason: 'Arrived' }, candidate: 'live' }
const full = waiting({ reason: 'NoCapacity', message: 'full', finishedAt: agoMs(30_000), strategy: 'live' })
const { id: _, finishedAt: __, ...stillFull } = full

const free: Array<[name: string, given: Given, wanted: Said]> = [
  ['one that was there from the start', {}, next],
  ['one that was there when it settled', phase('Settling'), next],
  ['EV-22: one that came later', phase('Draining'), arrived],
  ['EV-22: one that came at the end', phase('Verifying'), arrived],
  ['EV-22: known since the last pass', { ...phase('Draining'), before: waiting({ reason: 'Arrived' }) }, next],
  ['to be moved cold', { how: 'cold' }, { entry: { ...next.entry, strategy: 'cold' }, candidate: 'cold' }],
  [
    'resumed for its move',
    { before: waiting({ strategy: 'resume' }) },
    { entry: { ...next.entry, strategy: 'resume' }, candidate: 'live' }
  ],
  [
    'EV-10: asked for, and not shown yet',
    { before: asked(29_999) },
    {
      entry: { state: 'Queued', reason: 'Asked', message: 'Asked for; Nova does not show it yet.' },
      dueMs: now + 1
    }
  ],
  ['EV-10: … not shown within 30 s', { before: asked(30_000) }, next],
  ['EV-10: asked for, nobody knows when', { before: entry({ state: 'Queued', reason: 'Asked' }) }, next],
  ['EV-11: shown as queued, and gone', { before: entry({ state: 'Queued', reason: 'queued', startedAt: agoMs(1) }) }, next],
  [
    'out of attempts',
    { before: entry({ state: 'Failed', reason: 'MoveFailed', message: 'x' }) },
    { entry: { state: 'Failed', strategy: 'live', reason: 'MoveFailed', message: 'x' } }
  ],
  ['out of attempts, without a word', { before: entry({ state: 'Failed' }) }, { entry: { state: 'Failed', strategy: 'live' } }],
  ...(['NotMigratable', 'CancelledElsewhere'] as const).map((reason): (typeof free)[number] => [
    `blocked for good: ${reason}`,
    { before: entry({ state: 'Blocked', reason }) },
    { entry: { state: 'Blocked', strategy: 'live', reason } }
  ]),
  [
    'blocked, as long as it would be moved in the same way',
    { before: entry({ state: 'Blocked', reason: 'NotMigratable', strategy: 'live' }) },
    { entry: { state: 'Blocked', strategy: 'live', reason: 'NotMigratable' } }
  ],
  ['blocked to be moved live', { before: entry({ state: 'Blocked', reason: 'NotMigratable', strategy: 'cold' }) }, next],
  ['blocked by what is gone', { before: entry({ state: 'Blocked', reason: 'Rescue' }) }, next],
  ['backing off', { before: full }, { entry: stillFull, dueMs: now + 30_000 }],
  ['backing off is over', { before: full, scene: { nowMs: now + 30_000 } }, { entry: stillFull, candidate: 'live' }],
  ['there is room again', { before: full, scene: { lastSuccessMs: now } }, { entry: stillFull, candidate: 'live' }],
  ['another has asked meanwhile', { before: full, scene: { lastFullMs: now } }, { entry: stillFull, dueMs: now + 60_000 }],
  ['a move that was watched does not hold it', { before: entry({ reason: 'Transient', finishedAt: agoMs(1) }) }, next]
]
for (const [name, given, wanted] of free) t.test(`may be moved: ${name}`, async t => t.strictSame(judged(given), wanted))

const lost = record({ id: 7, status: 'error', updated: agoMs(1000) })
const failing = (more: Partial<Entry>): Partial<Entry> => ({
  strategy: 'live',
  attempts: 1,
  migrationId: '7',
  finishedAt: seconds(-1000),
  ...more
})
const hurt = (more: Partial<Entry> = {}): Partial<Entry> => failing({ reason: 'MoveFailed', message: 'x', ...more })
const unasked = 'The move failed; Nova could not be asked why.'
const elsewhere = { reason: 'CancelledElsewhere', message: 'Somebody else cancelled the move.' }
const cancelled = { ...lost, status: 'cancelled' }
const tried = (attempts: number, more: Partial<Entry> = {}) => entry({ attempts, migrationId: '6', ...more })

const failures: Array<[name: string, given: Given, wanted: Said]> = [
  // 15 s and the jitter of `s`, which is 0.915
  ['counted', { words: 'x' }, { entry: { state: 'Waiting', ...hurt() }, dueMs: now - 1000 + 13_725 }],
  [
    'resumed for its move',
    { words: 'x', before: tried(0, { strategy: 'resume' }) },
    { entry: { state: 'Waiting', ...hurt({ strategy: 'resume' }) }, dueMs: now - 1000 + 13_725 }
  ],
  [
    'no capacity is not counted',
    { words: 'No valid host', before: tried(2) },
    {
      entry: { state: 'Waiting', ...failing({ attempts: 2, reason: 'NoCapacity', message: 'No valid host' }) },
      dueMs: now + 59_000
    }
  ],
  ['the last attempt', { words: 'x', before: tried(2) }, { entry: { state: 'Failed', ...hurt({ attempts: 3 }) } }],
  [
    'what is not counted never was the last',
    { words: 'No valid host', before: tried(3) },
    {
      entry: { state: 'Waiting', ...failing({ attempts: 3, reason: 'NoCapacity', message: 'No valid host' }) },
      dueMs: now + 59_000
    }
  ],
  [
    'as many as the Eviction allows',
    { words: 'x', seen: { eviction: eviction({ maxAttempts: 1 }) } },
    { entry: { state: 'Failed', ...hurt() } }
  ],
  [
    'Nova refuses to move it',
    { words: 'vGPU' },
    { entry: { state: 'Blocked', ...failing({ reason: 'NotMigratable', message: 'vGPU' }) } }
  ],
  [
    'cancelled elsewhere: one more try',
    { last: cancelled },
    { entry: { state: 'Waiting', ...failing(elsewhere) }, dueMs: now - 1000 + 13_725 }
  ],
  [
    'cancelled elsewhere twice',
    { last: cancelled, before: tried(1) },
    { entry: { state: 'Blocked', ...failing({ ...elsewhere, attempts: 2 }) } }
  ],
  ['nobody could ask why', {}, { entry: { state: 'Waiting', reason: 'MoveFailed', message: unasked } }],
  [
    'nobody could ask why, as before',
    { before: tried(1) },
    { entry: { state: 'Migrating', reason: 'MoveFailed', message: unasked } }
  ]
]
for (const [name, given, wanted] of failures)
  t.test(`EV-11, EV-12: failed: ${name}`, async t => t.strictSame(judged({ last: lost, ...given }), wanted))
