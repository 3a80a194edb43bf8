// The status after a pass: a function of what was seen, decided and answered (spec §1.5, EV-24…EV-26).
import t from 'tap'
import type { Judged } from '../../../functions/evict/judge.ts'
import { reflect, type Answers } from '../../../functions/evict/reflect.ts'
import type { Entry, Outcome, Refusal, Seen, Status, Verdict } from '../../../functions/evict/seen.ts'
import type { Step } from '../../../functions/evict/step.ts'
import { eviction, seen, step, unregistered } from './seen.ts'
import { ago, now } from './server.ts'

const date = new Date(now)
const at = '2026-11-16T12:00:00Z'
const ok: Outcome = { ok: true }
const refused = (kind: Refusal, maybeDone = false): Outcome => ({
  ok: false,
  kind,
  message: 'no',
  maybeDone
})
const judged = (...entries: Entry[]): Judged[] => entries.map(entry => ({ entry, server: undefined, here: true }))
const waits: Entry = { id: 's', state: 'Waiting' }
interface Given {
  seen?: Partial<Seen>
  step?: Partial<Step>
  started?: Array<[string, Outcome]>
  called?: Array<[string, Outcome]>
  host?: Outcome
}
const status = ({ seen: more, step: decided, started = [], called = [], host }: Given): Status => {
  const answers: Answers = { started: new Map(started), called: new Map(called), ...(host && { host }) }
  return reflect(seen(more), step(decided), answers, date)
}

t.test('the whole status of a drain that has just begun', async t => {
  const condition = { lastTransitionTime: at, observedGeneration: 2 }
  t.strictSame(status({ seen: { eviction: eviction({ retryToken: 'r' }) } }), {
    hypervisorServiceId: 'service-1',
    hypervisorId: 'hv-id',
    outstandingRamMb: 0,
    outstandingInstances: [],
    conditions: [
      { type: 'Evicting', status: 'True', reason: 'Running', message: 'At work.', ...condition },
      {
        type: 'PreflightChecksSucceeded',
        status: 'True',
        reason: 'Succeeded',
        message: 'Every check passed.',
        ...condition
      }
    ],
    observedGeneration: 2,
    phase: 'Preflight',
    startedAt: at,
    preflight: [],
    instances: [],
    progress: {
      total: 0,
      done: 0,
      running: 0,
      waiting: 0,
      failed: 0,
      blocked: 0,
      excluded: 0,
      bytesTotal: 0,
      bytesDone: 0
    },
    nextCheckAt: '2026-11-16T12:00:30Z',
    retryToken: 'r'
  })
  const bare = status({ seen: { service: undefined, hypervisor: unregistered() } })
  t.strictSame(
    Object.keys(bare).filter(key => /hypervisor|retry|eta|emptySince|incoming|verdict|waitingFor/i.test(key)),
    []
  )
  const { generation: __, ...metadata } = eviction().metadata
  t.equal(status({ seen: { eviction: { ...eviction(), metadata } } }).observedGeneration, 0)
})

t.test('what is left, with the next one last (C), and how far it is', async t => {
  const states = ['Waiting', 'Queued', 'Migrating', 'Confirming', 'Blocked', 'Failed', 'Excluded', 'Done', 'Gone'] as const
  const entries = states.map((state): Entry => ({ id: state, state, ramMb: 1 }))
  const more: Entry[] = [
    { id: 'b', state: 'Waiting', ramMb: 2 },
    { id: 'a', state: 'Done', bytes: 7, ramMb: 1 },
    { id: 'x', state: 'Waiting' }
  ]
  const starts = ['Waiting', 'b', 'gone'].map(server => ({ server, how: 'live', target: undefined, probe: false }) as const)
  const found = status({ step: { judged: judged(...entries, ...more), starts, emptySinceMs: now } })
  t.equal(found.outstandingRamMb, 8)
  t.strictSame(found.outstandingInstances, ['Queued', 'Migrating', 'Confirming', 'Blocked', 'Failed', 'x', 'b', 'Waiting'])
  t.strictSame(found.progress, {
    total: 12,
    done: 3,
    running: 3,
    waiting: 3,
    failed: 1,
    blocked: 1,
    excluded: 1,
    bytesTotal: 11 * 2 ** 20 + 7,
    bytesDone: 2 * 2 ** 20 + 7
  })
  t.equal(found.emptySince, '2026-11-16T12:00:00.000Z')
})

t.test('HV-15: those that were dropped still count, unless it begins anew', async t => {
  const before: Status = { progress: { done: 5 }, instances: [{ id: 'a', state: 'Done' }, { id: 'b', state: 'Gone' }, waits] }
  const counts = (before: Status, anew = false) => {
    const { progress } = status({ seen: { eviction: eviction({}, before) }, step: { anew, judged: judged(waits) } })
    return [progress?.total, progress?.done]
  }
  t.strictSame(counts(before), [4, 3])
  t.strictSame(counts(before, true), [1, 0])
  t.strictSame(counts({ ...before, progress: { done: 1 } }), [1, 0], 'never below nothing')
})

t.test('the verdict and its end, which stays while the verdict does', async t => {
  const end = (before: Status, more: Partial<Step> = {}) =>
    status({ seen: { eviction: eviction({}, before) }, step: { verdict: 'Failed', ...more } }).finishedAt
  t.equal(end({}), at)
  t.equal(end({ verdict: 'Failed', finishedAt: ago(5) }), ago(5))
  t.equal(end({ verdict: 'Incomplete', finishedAt: ago(5) }), at)
  t.equal(end({ verdict: 'Failed' }), at)
  t.equal(end({ verdict: 'Failed', finishedAt: ago(5) }, { anew: true }), at)
  const shown = (verdict?: Verdict) => {
    const given = { ...(verdict && { verdict }), waitingFor: 'a person', judged: judged(waits) }
    const { waitingFor, nextCheckAt, eta, verdict: told } = status({ step: given })
    return [told, waitingFor, nextCheckAt !== undefined, eta !== undefined]
  }
  t.strictSame(shown(), [undefined, 'a person', true, true])
  t.strictSame(shown('Incomplete'), ['Incomplete', 'a person', true, false], 'EV-24: still watched')
  t.strictSame(shown('Planned'), ['Planned', undefined, false, true], 'EV-3: with an estimate')
  t.strictSame(shown('Failed'), ['Failed', undefined, false, false])
})

t.test('EV-26: as many lanes as may move', async t => {
  const eta = (more: Partial<Step>) => status({ step: { judged: judged(waits, { ...waits, id: 'b' }), ...more } }).eta
  const moving = [{ server: 'x', target: undefined }]
  t.equal(eta({}), '2026-11-16T12:00:04Z', 'one after the other: 2 s for each')
  t.equal(eta({ free: 1 }), '2026-11-16T12:00:04Z')
  t.equal(eta({ free: 1, moving }), '2026-11-16T12:00:02Z', 'both at once')
})

const asked = 'Asked for; Nova does not show it yet.'
const entry = (more: Partial<Entry> = {}): Entry => ({ ...waits, ...more })
const known = entry({ strategy: 'live', message: 'm', finishedAt: ago(1), destination: 'hv2', attempts: 1 })
const began = { id: 's', attempts: 1, state: 'Queued', strategy: 'live', reason: 'Asked', startedAt: date.toISOString() } as const
const { attempts: _, ...first } = began
const confirming = entry({ state: 'Confirming', reason: 'Confirming' })
const how = (server: string, how: 'live' | 'cold') => ({ server, how, target: undefined, probe: false })

const acted: Array<[name: string, given: Given & { entry: Entry }, wanted: Entry]> = [
  ['nothing was asked', { entry: known }, known],
  ['asked for', { entry: known, started: [['s', ok]] }, { ...began, message: asked }],
  [
    'asked for in another way',
    { entry: known, started: [['s', ok]], step: { starts: [how('x', 'live'), how('s', 'cold')] } },
    { ...began, strategy: 'cold', message: asked }
  ],
  [
    'resumed for its move',
    { entry: { ...known, strategy: 'resume' }, started: [['s', ok]], step: { starts: [how('s', 'live')] } },
    { ...began, strategy: 'resume', message: asked }
  ],
  ['in no known way', { entry: waits, started: [['s', ok]] }, { ...first, message: asked }],
  [
    'EV-10: the answer was lost',
    { entry: known, started: [['s', refused('Transient', true)]] },
    { ...began, message: 'Asked for, but the answer was lost: no' }
  ],
  [
    'refused',
    { entry: known, started: [['s', refused('Transient')]] },
    { id: 's', attempts: 1, strategy: 'live', reason: 'Transient', message: 'no', finishedAt: at, state: 'Waiting' }
  ],
  [
    'EV-12a: refused, this one alone',
    { entry: known, started: [['s', refused('Refused')]] },
    { id: 's', attempts: 1, strategy: 'live', refusals: 1, reason: 'Refused', message: 'no', finishedAt: at, state: 'Waiting' }
  ],
  [
    'EV-12a: … for the fifth time',
    { entry: { ...known, refusals: 4 }, started: [['s', refused('Refused')]] },
    { id: 's', attempts: 1, strategy: 'live', refusals: 5, reason: 'Refused', message: 'no', finishedAt: at, state: 'Blocked' }
  ],
  ['EV-12a: … and begun at last', { entry: { ...known, refusals: 4 }, started: [['s', ok]] }, { ...began, message: asked }],
  [
    'EV-12a: an order to give it up in an outage does not count',
    { entry: { ...known, aborts: 2, abortedAt: at }, called: [['s', refused('Transient')]] },
    { ...known, aborts: 1, message: 'no' }
  ],
  [
    'EV-12a: … nor does the first',
    { entry: { ...known, aborts: 1, abortedAt: at }, called: [['s', refused('Transient')]] },
    { ...known, message: 'no' }
  ],
  [
    'EV-12a: one that Nova refused does',
    { entry: { ...known, aborts: 1, abortedAt: at }, called: [['s', refused('Refused')]] },
    { ...known, aborts: 1, abortedAt: at, message: 'no' }
  ],
  [
    'refused for good',
    { entry: known, started: [['s', refused('NotMigratable')]] },
    { id: 's', attempts: 1, strategy: 'live', reason: 'NotMigratable', message: 'no', finishedAt: at, state: 'Blocked' }
  ],
  ['done as asked', { entry: confirming, called: [['s', ok]] }, confirming],
  [
    'EV-17: a confirmation that Nova refused',
    { entry: { ...confirming, confirmFailures: 1 }, called: [['s', refused('Transient')]] },
    { ...confirming, confirmFailures: 2, message: 'no', finishedAt: at }
  ],
  [
    'EV-17: the first',
    { entry: confirming, called: [['s', refused('Transient')]] },
    { ...confirming, confirmFailures: 1, message: 'no', finishedAt: at }
  ],
  [
    'another call that Nova refused',
    { entry: entry({ state: 'Confirming', reason: 'Prepared' }), called: [['s', refused('Transient')]] },
    entry({ state: 'Confirming', reason: 'Prepared', message: 'no' })
  ],
  [
    'an abort that Nova refused',
    { entry: entry({ state: 'Migrating', reason: 'Confirming' }), called: [['s', refused('Transient')]] },
    entry({ state: 'Migrating', reason: 'Confirming', message: 'no' })
  ]
]
for (const [name, { entry, step, ...given }, wanted] of acted) {
  t.test(`an entry once Nova has answered: ${name}`, async t => {
    const { instances } = status({ ...given, step: { ...step, judged: judged(entry) } })
    t.strictSame(instances, [wanted])
  })
}

t.test('401, 403: the whole eviction waits for its rights', async t => {
  const rights = 'rights in OpenStack: no'
  const given: Given = { step: { judged: judged(waits), waitingFor: 'x' } }
  t.equal(status({ ...given, started: [['s', refused('Denied')]] }).waitingFor, rights)
  t.equal(status({ ...given, called: [['s', refused('Denied')]] }).waitingFor, rights)
  t.equal(status({ ...given, started: [['s', refused('Transient')]] }).waitingFor, 'x')
})

t.test('EV-5: an abort that Nova refused is asked for again', async t => {
  const incoming = { migrationId: '7', serverId: 's', status: 'running', action: 'abort' }
  const after = (called: Given['called']) => status({ step: { incoming: [incoming] }, ...(called && { called }) }).incoming
  t.strictSame(after([['s', ok]]), [incoming])
  t.strictSame(after([]), [incoming])
  t.strictSame(after([['s', refused('Transient')]]), [{ ...incoming, action: 'wait' }])
})
