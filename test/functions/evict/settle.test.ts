// EV-4, EV-5: what is on its way to a host that is to be emptied.
import t from 'tap'
import type { Incoming, Options, Status } from '../../../functions/evict/seen.ts'
import { incomingOf, settle } from '../../../functions/evict/settle.ts'
import type { Step } from '../../../functions/evict/step.ts'
import { eviction, place, seen, step } from './seen.ts'
import { now, record } from './server.ts'
import { options } from './options.ts'

const coming = record({ id: 7, source: 'hv2', target: 'hv1' })
const incoming = (action: 'abort' | 'wait', status = 'running'): Incoming => ({
  migrationId: '7',
  serverId: 's',
  status,
  action
})
const abort = { do: 'abort', server: 's', record: 7, why: 'Incoming' } as const
type Given = { records?: (typeof coming)[]; status?: Status; spec?: object; nearlyDone?: number[]; step?: Partial<Step> }
const settled = ({ records = [coming], status, spec, nearlyDone = [], step: more }: Given, limits: Partial<Options> = {}) =>
  settle(seen({ eviction: eviction(spec, status), records, nearlyDone: new Set(nearlyDone) }), { ...step(), ...more }, place, {
    ...options,
    ...limits
  })
const waiting = (action: 'abort' | 'wait', calls: Step['calls'], status = 'running'): Step => ({
  ...step(),
  phase: 'Settling',
  incoming: [incoming(action, status)],
  calls,
  waitingFor: '1 move to this host to end',
  nextCheckMs: 15_000
})
const secondLook: Step = {
  ...step(),
  phase: 'Settling',
  waitingFor: 'a second look at moves to this host',
  nextCheckMs: options.settleGapMs
}

const cases: Array<[name: string, given: Given, wanted: Step | undefined]> = [
  ['a live move is given up', {}, waiting('abort', [abort])],
  ['EV-5: given up once', { status: { phase: 'Settling', incoming: [incoming('abort')] } }, waiting('abort', [])],
  [
    'EV-5: … and again, if Nova would not',
    { status: { phase: 'Settling', incoming: [incoming('wait')] } },
    waiting('abort', [abort])
  ],
  [
    'EV-5: another one was given up',
    { status: { phase: 'Settling', incoming: [{ ...incoming('abort'), migrationId: '6' }] } },
    waiting('abort', [abort])
  ],
  ['EV-5: with a tenth left it may end', { nearlyDone: [7] }, waiting('wait', [])],
  [
    'EV-5: past the point of return',
    { records: [{ ...coming, status: 'post-migrating' }] },
    waiting('wait', [], 'post-migrating')
  ],
  ['EV-5: a cold one', { records: [{ ...coming, type: 'migration' }] }, waiting('wait', [])],
  ['EV-4: away from here', { records: [record()] }, secondLook],
  ['EV-4: terminal', { records: [{ ...coming, status: 'completed' }] }, secondLook],
  ['EV-4: it has arrived and awaits somebody', { records: [{ ...coming, status: 'finished' }] }, secondLook],
  ['EV-5: the first empty read', { records: [] }, secondLook],
  ['EV-5: the second empty read', { records: [], status: { phase: 'Settling' } }, undefined],
  [
    'EV-5: the first empty read after something came',
    { records: [], status: { phase: 'Settling', incoming: [incoming('abort')] } },
    secondLook
  ],
  ['EV-5: within its time', { step: { startedMs: now - 899_999 } }, { ...waiting('abort', [abort]), startedMs: now - 899_999 }],
  ['EV-5: after its time it goes on', { step: { startedMs: now - 900_000 } }, undefined],
  ['EV-22: a drain under way', { status: { phase: 'Draining' } }, undefined],
  ['EV-22: a drain that looks a second time', { status: { phase: 'Verifying' } }, undefined],
  ['EV-24: a drain that has ended', { status: { phase: 'Done' } }, undefined],
  ['a drain that begins anew', { status: { phase: 'Done' }, step: { anew: true } }, { ...waiting('abort', [abort]), anew: true }],
  ['EV-25: cancelled', { spec: { cancel: 'Finish' } }, undefined]
]
for (const [name, given, wanted] of cases) t.test(name, async t => t.strictSame(settled(given), wanted))

t.test('EV-5: what was given up stays so in the status', async t => {
  const told = (action: 'abort' | 'wait', migrationId = '7') =>
    incomingOf(
      'hv1',
      seen({
        eviction: eviction(
          {},
          {
            incoming: [
              { ...incoming('wait'), migrationId: '5' },
              { ...incoming(action), migrationId }
            ]
          }
        ),
        records: [coming],
        nearlyDone: new Set([7])
      })
    )
  t.strictSame(told('abort'), [incoming('abort')])
  t.strictSame(told('wait'), [incoming('wait')])
  t.strictSame(told('abort', '6'), [incoming('wait')])
})
