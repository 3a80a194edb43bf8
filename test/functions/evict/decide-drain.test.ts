// What one pass decides while servers leave and when none is left: EV-14, EV-22…EV-25.
import t from 'tap'
import { decide } from '../../../functions/evict/decide.ts'
import type { Entry, Seen, Status } from '../../../functions/evict/seen.ts'
import type { Step } from '../../../functions/evict/step.ts'
import type { Eviction } from '../../../shared/schema/eviction.ts'
import { options } from './options.ts'
import { eviction, seen } from './seen.ts'
import { ago, agoMs, now, record, server } from './server.ts'

interface Given {
  spec?: Partial<Eviction['spec']>
  status?: Status
  seen?: Partial<Seen>
}
const decided = ({ spec, status, seen: more }: Given): Step =>
  decide(seen({ eviction: eviction(spec, { phase: 'Draining', startedAt: ago(10), ...status }), ...more }), now, options)
const brief = ({ phase, verdict, waitingFor, starts, calls, nextCheckMs }: Step) => [
  phase,
  verdict,
  waitingFor,
  starts.map(({ server }) => server).join(' '),
  calls,
  nextCheckMs
]
const running = record({ server: 'm', id: 9 })
const moving = server({ id: 'm', status: 'MIGRATING', taskState: 'migrating' })
const some = (...ids: string[]) => ids.map(id => server({ id }))
const rescued = (id: string) => server({ id, status: 'RESCUE', vmState: 'rescued' })
const shelved = server({ id: 'o', status: 'SHELVED', vmState: 'shelved' })
const cold = record({ server: 'c', type: 'migration', status: 'finished' })
const confirms = {
  left: new Map([['c', server({ id: 'c', host: 'hv2', status: 'VERIFY_RESIZE', vmState: 'resized' })]]),
  records: [cold]
}
const resumed = {
  left: new Map([['r', server({ id: 'r', host: 'hv2' })]]),
  records: [record({ server: 'r', status: 'completed' })]
}
const full = (id: string, ms: number): Entry => ({ id, state: 'Waiting', reason: 'NoCapacity', finishedAt: agoMs(ms) })
const under = (count: number) => `${count} move${count === 1 ? '' : 's'} under way`
const five = [1, 2, 3, 4, 5].map(id => `${id} of x (running)`).join(', ')
const oneWaits = `${under(2)}; 1 server to begin; the limit is destination`
const secondLook = ['Verifying', undefined, 'a second look at the empty host', '', [], 5000]

const cases: Array<[name: string, given: Given, wanted: unknown[]]> = [
  ['all may go', { seen: { servers: some('a', 'b') } }, ['Draining', undefined, under(2), 'a b', [], 60_000]],
  [
    'EV-15: as many as the limit says',
    { seen: { servers: some('a', 'b', 'c') } },
    ['Draining', undefined, oneWaits, 'a b c', [], 60_000]
  ],
  [
    'EV-14: with moves under way, every 15 s',
    { seen: { servers: [moving, ...some('a', 'b')], records: [running] } },
    ['Draining', undefined, oneWaits, 'a b', [], 15_000]
  ],
  [
    'one that was asked for takes a place, also before Nova shows its record',
    { seen: { servers: [moving, ...some('a', 'b')] } },
    ['Draining', undefined, oneWaits, 'a b', [], 15_000]
  ],
  [
    'EV-10: … and while Nova does not show it at all',
    {
      status: { instances: [{ id: 'a', state: 'Queued', reason: 'Asked', startedAt: agoMs(20_000) }] },
      seen: { servers: some('a', 'b', 'c') }
    },
    ['Draining', undefined, oneWaits, 'b c', [], 10_000]
  ],
  [
    'why those that cannot begin wait',
    {
      status: { instances: [full('a', 50_000), { id: 'b', state: 'Waiting', reason: 'Transient', finishedAt: agoMs(1000) }] },
      seen: { servers: [...some('a', 'b'), server({ id: 'c', taskState: 'pausing' }), server({ id: 'd', taskState: 'pausing' })] }
    },
    ['Draining', undefined, '4 servers to begin (Busy, NoCapacity, Transient); the limit is destination', '', [], 4000]
  ],
  [
    'EV-12a: one of them asks whether there is room',
    { status: { instances: [full('a', 60_000), full('b', 60_000)] }, seen: { servers: some('a', 'b') } },
    ['Draining', undefined, `${under(1)}; 1 server to begin (NoCapacity); the limit is destination`, 'a', [], 60_000]
  ],
  [
    'one that came late is named by no reason',
    { status: { instances: [{ id: 'a', state: 'Waiting', reason: 'Next' }] }, seen: { servers: some('a', 'b', 'c') } },
    ['Draining', undefined, oneWaits, 'a b c', [], 60_000]
  ],
  [
    'preparations',
    { seen: { servers: [shelved] } },
    [
      'Draining',
      undefined,
      '1 server to begin (Prepared); the limit is destination',
      '',
      [{ do: 'offload', server: 'o' }],
      60_000
    ]
  ],
  [
    'EV-25: paused',
    { spec: { paused: true }, seen: { servers: some('a') } },
    ['Draining', undefined, 'the pause to end', '', [], 60_000]
  ],
  [
    'EV-25: paused with nobody waiting',
    { spec: { paused: true }, seen: { servers: [moving], records: [running] } },
    ['Draining', undefined, under(1), '', [], 15_000]
  ],
  [
    'EV-25: Finish waits for moves, and prepares nothing more',
    { spec: { cancel: 'Finish' }, seen: { servers: [moving, shelved, ...some('a')], records: [running] } },
    ['Draining', undefined, 'moves under way to end', '', [], 15_000]
  ],
  [
    'EV-25: Finish confirms what has moved cold',
    { spec: { cancel: 'Finish' }, seen: confirms },
    ['Draining', undefined, 'moves under way to end', '', [{ do: 'confirm', server: 'c' }], 15_000]
  ],
  [
    'EV-25: Finish suspends what was resumed',
    {
      spec: { cancel: 'Finish' },
      status: { instances: [{ id: 'r', state: 'Migrating', strategy: 'resume' }] },
      seen: resumed
    },
    ['Draining', undefined, 'moves under way to end', '', [{ do: 'suspend', server: 'r' }], 15_000]
  ],
  [
    'EV-25: Abort gives them up',
    { spec: { cancel: 'Abort' }, seen: { servers: [moving], records: [running] } },
    ['Draining', undefined, 'moves under way to end', '', [{ do: 'abort', server: 'm', record: 9, why: 'Cancelled' }], 15_000]
  ],
  [
    'EV-25: cancelled',
    { spec: { cancel: 'Finish' }, seen: { servers: some('a') } },
    ['Done', 'Cancelled', undefined, '', [], 60_000]
  ],
  [
    'EV-25: nearly out of time',
    { spec: { timeout: '10m1s' }, seen: { servers: some('a') } },
    ['Draining', undefined, under(1), 'a', [], 60_000]
  ],
  [
    'EV-25: out of time, moves may end',
    { spec: { timeout: '10m' }, seen: { servers: [moving, ...some('a')], records: [running] } },
    ['Draining', undefined, 'moves under way to end', '', [], 15_000]
  ],
  [
    'EV-25: out of time',
    { spec: { timeout: '10m' }, seen: { servers: some('a', 'b') } },
    ['Done', 'Incomplete', '2 servers to leave; its time is over', '', [], 60_000]
  ],
  [
    'EV-24: out of time, and those left cannot be moved',
    { spec: { timeout: '10m' }, seen: { servers: [rescued('a')] } },
    ['Done', 'Incomplete', 'a person: 1 server cannot be moved', '', [], 60_000]
  ],
  ['EV-24: out of time, but empty', { spec: { timeout: '10m' } }, secondLook],
  [
    'EV-24: those left cannot be moved',
    {
      status: { instances: [{ id: 'b', state: 'Failed', reason: 'MoveFailed' }] },
      seen: { servers: [rescued('a'), ...some('b')] }
    },
    ['Done', 'Incomplete', 'a person: 2 servers cannot be moved', '', [], 60_000]
  ],
  [
    'EV-9: one that cannot be moved holds up nobody',
    { seen: { servers: [rescued('a'), ...some('b')] } },
    ['Draining', undefined, under(1), 'b', [], 60_000]
  ],
  [
    'HV-29: one of which nobody knows holds up nobody',
    { seen: { left: new Map([['a', server({ id: 'a', host: 'hv2' })]]) } },
    secondLook
  ],
  [
    'EV-23: a migration with this host is open',
    { seen: { records: [record({ id: 3, server: 'x', source: 'hv2', target: 'hv1' })] } },
    ['Draining', undefined, 'migration records to end: 3 of x (running)', '', [], 15_000]
  ],
  [
    'EV-23: … for 15 minutes',
    { seen: { records: [record({ id: 3, server: 'x', source: 'hv2', updated: ago(15) })] } },
    ['Draining', undefined, 'migration records to end: 3 of x (running)', '', [], 15_000]
  ],
  [
    'EV-24: … and longer: a person has to look',
    { seen: { records: [record({ id: 3, server: 'x', source: 'hv2', updated: agoMs(900_001) })] } },
    ['Done', 'Incomplete', 'migration records to end: 3 of x (running)', '', [], 60_000]
  ],
  [
    'EV-23: of many, five are named; one that lives is enough',
    {
      seen: {
        records: [1, 2, 3, 4, 5, 6].map(id => record({ id, server: 'x', source: 'hv2', updated: ago(id === 3 ? 1 : 60) }))
      }
    },
    ['Draining', undefined, `migration records to end: ${five}`, '', [], 15_000]
  ],
  [
    'EV-23: empty a little while',
    { status: { emptySince: agoMs(4999) } },
    ['Verifying', undefined, 'a second look at the empty host', '', [], 1]
  ],
  ['EV-23: empty for 5 s', { status: { emptySince: agoMs(5000) } }, ['Done', 'Succeeded', undefined, '', [], 60_000]],
  [
    'EV-23: what was seen before a new order does not count',
    { spec: { retryToken: 'again' }, status: { phase: 'Settling', verdict: 'Incomplete', emptySince: agoMs(5000) } },
    secondLook
  ],
  [
    'EV-2: enabled again, if wanted',
    { spec: { reenable: true }, status: { emptySince: agoMs(5000) } },
    ['Done', 'Succeeded', undefined, '', [{ do: 'enable' }], 60_000]
  ],
  [
    'EV-24: with exclusions',
    { spec: { exclude: [{ id: 'a' }] }, status: { emptySince: agoMs(5000) }, seen: { servers: some('a') } },
    ['Done', 'SucceededWithExclusions', undefined, '', [], 60_000]
  ]
]
for (const [name, given, wanted] of cases) t.test(name, async t => t.strictSame(brief(decided(given)), wanted))

t.test('what the status and the starts need besides', async t => {
  const found = decided({
    seen: { servers: [moving, ...some('a')], records: [running, { ...running, id: 10, source: 'hv2', target: 'hv1' }] }
  })
  t.strictSame([found.free, found.moving], [1, [{ server: 'm', target: 'hv2' }]])
  t.strictSame(found.incoming, [{ migrationId: '10', serverId: 'm', status: 'running', action: 'abort' }], 'EV-5: a warning')
  const since = (status: Status) => decided({ status }).emptySinceMs
  t.strictSame([since({}), since({ emptySince: agoMs(5000) })], [now, now - 5000])
  t.equal(decided({ status: { phase: 'Preflight' } }).phase, 'Settling')
  const probe = decided({ status: { instances: [full('a', 60_000)] }, seen: { servers: some('a') } }).starts
  t.strictSame(probe, [{ server: 'a', how: 'live', target: undefined, probe: true }])
})

t.test('EV-12: room that one has found is there for all; one that finds none asks for all', async t => {
  const room = (state: 'Done' | 'Waiting', more: Partial<Entry>) =>
    decided({
      status: { instances: [full('a', 50_000), { id: 'b', state, finishedAt: agoMs(40_000), ...more }] },
      seen: { servers: some('a') }
    })
  t.equal(room('Done', {}).starts.length, 1)
  t.equal(room('Waiting', { reason: 'NoCapacity' }).nextCheckMs, 20_000)
  t.equal(room('Waiting', { reason: 'Transient' }).nextCheckMs, 10_000)
})
