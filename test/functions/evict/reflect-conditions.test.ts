// Spec §1.5: the conditions of an Eviction after a pass.
import t from 'tap'
import { reflect } from '../../../functions/evict/reflect.ts'
import type { Entry, Outcome, Verdict } from '../../../functions/evict/seen.ts'
import type { Step } from '../../../functions/evict/step.ts'
import type { Eviction } from '../../../shared/schema/eviction.ts'
import { eviction, seen, step } from './seen.ts'
import { ago, now } from './server.ts'

interface Given {
  step?: Partial<Step>
  entries?: Entry[]
  spec?: Partial<Eviction['spec']>
  started?: Outcome
  host?: Outcome
}
type Told = [type: string, status: string, reason: string, message: string]
const ok: Outcome = { ok: true }
const no: Outcome = { ok: false, kind: 'Transient', message: 'no', maybeDone: false }
const blocked = (check: string, message?: string) => ({
  preflight: { checks: [], rescued: false, blocking: { check, result: 'Fail' as const, ...(message && { message }) } }
})
const entry = (state: Entry['state'], more: Partial<Entry> = {}): Entry => ({ id: 's', state, ...more })
const incoming = (...actions: string[]) => ({ incoming: actions.map((action, at) => ({ migrationId: `${at}`, action })) })

const works: Told = ['Evicting', 'True', 'Running', 'At work.']
const waits: Told = ['Evicting', 'True', 'Running', 'Waiting for x.']
const checked: Told = ['PreflightChecksSucceeded', 'True', 'Succeeded', 'Every check passed.']
const unchecked = (message: string): Told => ['PreflightChecksSucceeded', 'False', 'Failed', message]
const settled: Told = ['IncomingMigrationsSettled', 'True', 'Settled', 'Nothing is on its way to the host.']
const unsettled = (reason: string, message: string): Told => ['IncomingMigrationsSettled', 'False', reason, message]
const moving = (message: string): Told => ['MigratingInstance', 'True', 'Running', message]
const stopped = (reason: string, message: string): Told => ['MigratingInstance', 'False', reason, message]
const draining = { phase: 'Draining' } as const
const settling = { phase: 'Settling', waitingFor: 'x' } as const
const ended: Told = ['Evicting', 'False', 'Failed', 'HostDown: a dead host cannot be drained.']
const failed = { phase: 'Done', verdict: 'Failed' } as const

const cases: Array<[name: string, given: Given, wanted: Told[]]> = [
  ['at work', {}, [works, checked]],
  ['waiting', { step: { waitingFor: 'x' } }, [waits, checked]],
  ['a check fails', { step: blocked('alive', 'It is dead.') }, [works, unchecked('It is dead.')]],
  ['a check fails without a word', { step: blocked('alive') }, [works, unchecked('alive')]],
  ['the host was just disabled', { step: blocked('disabled', 'm'), host: ok }, [works, checked]],
  ['the host could not be disabled', { step: blocked('disabled', 'm'), host: no }, [works, unchecked('m')]],
  ['the host was just disabled, another check fails', { step: blocked('ids', 'm'), host: ok }, [works, unchecked('m')]],
  ['settled', { step: draining }, [works, checked, settled]],
  [
    'EV-5: incoming moves are given up',
    { step: { ...settling, ...incoming('wait', 'abort') } },
    [waits, checked, unsettled('AbortingIncomingMigrations', 'x')]
  ],
  [
    'EV-5: incoming moves may end',
    { step: { ...settling, ...incoming('wait') } },
    [waits, checked, unsettled('WaitingForIncomingMigrations', 'x')]
  ],
  ['EV-5: without a word', { step: { phase: 'Settling' } }, [works, checked, unsettled('WaitingForIncomingMigrations', '')]],
  [
    'EV-5: after its time it goes on with a warning',
    { step: { ...draining, ...incoming('wait', 'wait') } },
    [works, checked, unsettled('WaitingForIncomingMigrations', 'Goes on all the same, with 2 moves to this host under way.')]
  ],
  [
    'moves are under way',
    { step: draining, entries: [entry('Migrating')] },
    [works, checked, settled, moving('Moves are under way.')]
  ],
  [
    'moves are awaited',
    { step: { ...draining, waitingFor: 'x' }, entries: [entry('Migrating')] },
    [waits, checked, settled, moving('x')]
  ],
  [
    'one was asked for',
    { step: draining, entries: [entry('Waiting')], started: ok },
    [works, checked, settled, moving('Moves are under way.')]
  ],
  ['none was tried', { step: draining, entries: [entry('Waiting')] }, [works, checked, settled]],
  [
    'one has failed',
    { step: draining, entries: [entry('Done'), entry('Failed', { reason: 'MoveFailed', message: 'm' })] },
    [works, checked, settled, stopped('Failed', 's: m')]
  ],
  [
    'one has failed and waits for its next try',
    { step: draining, entries: [entry('Done'), entry('Waiting', { reason: 'NoCapacity', finishedAt: ago(1) })] },
    [works, checked, settled, stopped('Failed', 's: NoCapacity')]
  ],
  [
    'one has failed, nobody knows why',
    { step: draining, entries: [entry('Failed')] },
    [works, checked, settled, stopped('Failed', 's: ')]
  ],
  [
    'the last one ended well',
    { step: draining, entries: [entry('Done', { finishedAt: ago(1) }), entry('Excluded')] },
    [works, checked, settled, stopped('Succeeded', 'The last move ended well.')]
  ],
  ['not to be enabled again', { step: failed, host: ok }, [ended, checked, settled]],
  ['not to be enabled before its end', { step: draining, spec: { reenable: true }, host: ok }, [works, checked, settled]],
  ['nobody asked Nova to enable it', { step: failed, spec: { reenable: true } }, [ended, checked, settled]],
  [
    'enabled again',
    { step: failed, spec: { reenable: true }, host: ok },
    [ended, checked, settled, ['HypervisorReEnabled', 'True', 'Succeeded', 'The host takes servers again.']]
  ],
  [
    'not enabled again',
    { step: failed, spec: { reenable: true }, host: no },
    [ended, checked, settled, ['HypervisorReEnabled', 'False', 'Failed', 'no']]
  ],
  [
    'EV-3: a plan tells nothing of incoming moves',
    { step: { phase: 'Done', verdict: 'Planned' } },
    [['Evicting', 'False', 'Cancelled', 'Plan only: nothing was moved.'], checked]
  ]
]
const conditionsOf = ({ step: more, entries = [], spec, started, host }: Given): Told[] => {
  const judged = entries.map(entry => ({ entry, server: undefined, here: true }))
  const answers = { started: new Map(started && [['s', started]]), called: new Map(), ...(host && { host }) }
  const { conditions = [] } = reflect(seen({ eviction: eviction(spec) }), step({ judged, ...more }), answers, new Date(now))
  return conditions.map(({ type, status, reason, message }) => [type, status, reason, message])
}
for (const [name, given, wanted] of cases) t.test(name, async t => t.strictSame(conditionsOf(given), wanted))

const verdicts: Array<[verdict: Verdict, reason: string, message: string]> = [
  ['Succeeded', 'Succeeded', 'The host is empty: two lists, and no migration to or from it.'],
  ['SucceededWithExclusions', 'Succeeded', 'Only the servers that were to be left alone are still on the host.'],
  ['Incomplete', 'Failed', 'Servers are left that cannot be moved; status.instances says why.'],
  ['Cancelled', 'Cancelled', 'Cancelled; status.instances says where each server is.'],
  ['Failed', 'Failed', 'HostDown: a dead host cannot be drained.'],
  ['HostMissing', 'Failed', 'Nova has no such host.'],
  ['Planned', 'Cancelled', 'Plan only: nothing was moved.']
]
for (const [verdict, reason, message] of verdicts) {
  t.test(`EV-24: the verdict ${verdict} is False/${reason}`, async t => {
    const told = (waitingFor?: string) =>
      conditionsOf({ step: { phase: 'Done', verdict, ...(waitingFor !== undefined && { waitingFor }) } })[0]
    t.strictSame(told(), ['Evicting', 'False', reason, message])
    t.strictSame(told('a person'), ['Evicting', 'False', reason, `${message} Waiting for a person.`])
  })
}
