// EV-11, EV-12, §4.3: why a move did not happen, whether it counts, and when the next try is due.
import t from 'tap'
import { asked, dueMs, failureOf, isNews, refusalOf, wasMoving } from '../../../functions/evict/failure.ts'
import type { Entry } from '../../../functions/evict/seen.ts'
import { record } from './server.ts'

const entry = (more: Partial<Entry> = {}): Entry => ({ id: 's', state: 'Migrating', ...more })

const failures: Array<
  [status: string, words: string | undefined, reason: string | undefined, then: ReturnType<typeof failureOf>]
> = [
  ['cancelled', 'x', 'TimedOut', { kind: 'TimedOut', counted: true, message: 'The move took too long and was given up.' }],
  ['cancelled', 'x', 'Cancelled', { kind: 'Cancelled', counted: false, message: 'The move was given up, as asked.' }],
  ['cancelled', 'x', 'Other', { kind: 'CancelledElsewhere', counted: true, message: 'Somebody else cancelled the move.' }],
  ['cancelled', 'x', undefined, { kind: 'CancelledElsewhere', counted: true, message: 'Somebody else cancelled the move.' }],
  ['error', 'x', 'TimedOut', { kind: 'MoveFailed', counted: true, message: 'x' }],
  ['error', 'No valid host was found.', undefined, { kind: 'NoCapacity', counted: false, message: 'No valid host was found.' }],
  ['failed', 'Unacceptable CPU info', undefined, { kind: 'NotMigratable', counted: true, message: 'Unacceptable CPU info' }],
  ['error', 'RPC timed out', undefined, { kind: 'Transient', counted: false, message: 'RPC timed out' }],
  ['failed', 'RPC timed out', undefined, { kind: 'MoveFailed', counted: true, message: 'RPC timed out' }],
  ['error', '', undefined, { kind: 'MoveFailed', counted: true, message: 'Nova ended the move as error without a reason.' }],
  [
    'failed',
    undefined,
    undefined,
    { kind: 'MoveFailed', counted: true, message: 'Nova ended the move as failed without a reason.' }
  ]
]
for (const [status, words, reason, then] of failures) {
  t.test(`a record ${status}, "${words}", entry ${reason}`, async t => {
    const found = failureOf(record({ status }), words, reason === undefined ? undefined : entry({ reason }))
    t.strictSame(found, then)
  })
}

t.test('what was under way', async t => {
  t.equal(wasMoving(undefined), false)
  t.equal(wasMoving(entry({ state: 'Migrating' })), true)
  t.equal(wasMoving(entry({ state: 'Confirming' })), true)
  t.equal(wasMoving(entry({ state: 'Queued' })), true, 'Nova queues it')
  t.equal(wasMoving(entry({ state: 'Queued', reason: asked })), false, 'Nova does not show it yet')
  t.equal(wasMoving(entry({ state: 'Waiting' })), false)
  t.equal(wasMoving(entry({ state: 'Waiting', reason: asked })), false)
})

t.test('a failed move is news once', async t => {
  const failed = record({ id: 7, status: 'failed' })
  t.equal(isNews(failed, undefined), true)
  t.equal(isNews(record({ id: 7, status: 'completed' }), undefined), false)
  t.equal(isNews(failed, entry({ migrationId: '6', state: 'Waiting' })), true, 'a younger one')
  t.equal(isNews(failed, entry({ migrationId: '7', state: 'Migrating' })), true, 'the one that was watched')
  t.equal(isNews(failed, entry({ migrationId: '7', state: 'Waiting' })), false, 'known already')
  t.equal(isNews(failed, entry({ migrationId: '8', state: 'Migrating' })), false, 'an older one')
  t.equal(isNews(record({ id: 1, status: 'failed' }), entry({ state: 'Waiting' })), true, 'the first of all')
})

const refusals: Array<[given: Partial<Parameters<typeof refusalOf>[0]>, kind: string]> = [
  [{ status: 404, code: 'Unauthorized' }, 'Gone'],
  [{ status: 401, code: 'Unauthorized' }, 'Denied'],
  [{ status: 403, code: 'Forbidden' }, 'Denied'],
  [{ status: 400, words: 'No valid host was found' }, 'NoCapacity'],
  [{ status: 400 }, 'NotMigratable'],
  [{ status: 409 }, 'Refused'],
  [{ status: 500 }, 'Refused'],
  [{ status: 503 }, 'Transient'],
  [{}, 'Transient']
]
for (const [given, kind] of refusals) {
  t.test(`refused: ${JSON.stringify(given)}`, async t => {
    const refused = { code: 'Failed', message: 'no', maybeDone: false, ...given }
    t.strictSame(refusalOf(refused), { ok: false, kind, message: given.words ?? 'no', maybeDone: false })
    t.equal(refusalOf({ ...refused, maybeDone: true }).maybeDone, true)
  })
}

t.test('when the next try is due', async t => {
  const end = Date.parse('2026-11-16T12:00:00Z')
  const finishedAt = new Date(end).toISOString()
  const due = (more: Partial<Entry>, lastSuccessMs = 0, lastFullMs = 0): number =>
    dueMs(entry({ finishedAt, ...more }), lastSuccessMs, lastFullMs) - end
  t.equal(dueMs(entry({ reason: 'MoveFailed', attempts: 2 }), 0), 0, 'nothing has ended')
  t.equal(due({ reason: 'NoCapacity' }), 60_000)
  t.equal(dueMs(entry({ finishedAt, reason: 'NoCapacity' }), 0) - end, 60_000, 'nobody else found it full')
  t.equal(due({ reason: 'NoCapacity' }, 0, end + 5000), 65_000, 'one asks for all')
  t.equal(due({ reason: 'NoCapacity' }, end), 60_000, 'the success must be younger')
  t.equal(due({ reason: 'NoCapacity' }, end + 1), -end, 'at once: there is room again')
  t.equal(due({ reason: 'Transient' }), 5000)
  t.equal(due({ reason: 'Gone' }), 5000)
  t.equal(due({ reason: 'Cancelled', attempts: 2 }), -end, 'at once')
  // EV-12: 15, 60, 240 s, and then 240 again; the jitter of `s` (char code 115) is 0.8 + 115 / 1000
  for (const [attempts, seconds] of [
    [1, 15],
    [2, 60],
    [3, 240],
    [4, 240]
  ] as const)
    t.equal(due({ reason: 'MoveFailed', attempts }), Math.round(seconds * 915), `after ${attempts}`)
  t.equal(due({ reason: 'MoveFailed' }), 0, 'no attempt was counted')
  // `ab`: 97 * 31 + 98 = 3105, of which 298 is left by 401
  t.equal(Math.round(due({ id: 'ab', reason: 'MoveFailed', attempts: 1 })), Math.round(15 * 1098), 'spread by the id')
})
