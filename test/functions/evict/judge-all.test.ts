// Every server of one pass: on the host, gone from it, ended before, or running there without Nova's knowledge (EV-22, EV-23).
import t from 'tap'
import type { Judged } from '../../../functions/evict/judge.ts'
import { judgeAll, newestEnd } from '../../../functions/evict/judge-all.ts'
import type { Entry, Seen } from '../../../functions/evict/seen.ts'
import { eviction, hypervisor, place, seen } from './seen.ts'
import { ago, agoMs, now, record, server } from './server.ts'
import { options } from './options.ts'

const all = (more: Partial<Seen>, instances: Entry[] = [], anew = false): Judged[] =>
  judgeAll(seen({ eviction: eviction({}, { instances }), ...more }), place, anew, options)
const entries = (judged: readonly Judged[]): Entry[] => judged.map(({ entry }) => entry)

t.test('the newest end of those that count', async t => {
  const instances: Entry[] = [
    { id: 'a', state: 'Done', finishedAt: ago(3) },
    { id: 'b', state: 'Done', finishedAt: ago(2) },
    { id: 'c', state: 'Done' },
    { id: 'd', state: 'Failed', finishedAt: ago(1) }
  ]
  const isDone = ({ state }: Entry) => state === 'Done'
  t.equal(newestEnd({ instances }, isDone), Date.parse(ago(2)))
  t.equal(
    newestEnd({ instances }, ({ id }) => id === 'c'),
    0
  )
  t.equal(
    newestEnd({ instances }, () => false),
    0
  )
  t.equal(newestEnd(undefined, isDone), 0)
})

t.test('those of the host, those that left and those that ended, by id, each with what is known of it', async t => {
  const found = all(
    {
      servers: [server({ id: 'c' }), server({ id: 'a' })],
      left: new Map([
        ['b', undefined],
        ['d', server({ id: 'd', host: 'hv2' })]
      ]),
      records: [record({ id: 3, server: 'd', status: 'completed' }), record({ id: 4, server: 'c' })],
      copied: new Map([
        ['e', 7],
        ['f', 7]
      ])
    },
    [
      { id: 'c', state: 'Waiting', attempts: 1 },
      { id: 'e', state: 'Done' },
      { id: 'f', state: 'Gone' },
      { id: 'g', state: 'Done', bytes: 5 }
    ]
  )
  t.strictSame(
    found.map(({ entry: { id, state, attempts, bytes }, here }) => [id, state, attempts, bytes, here]),
    [
      ['a', 'Waiting', 0, undefined, true],
      ['b', 'Gone', 0, undefined, false],
      ['c', 'Migrating', 2, undefined, true],
      ['d', 'Done', 1, undefined, false],
      ['e', 'Done', undefined, 7, false],
      ['f', 'Gone', undefined, undefined, false],
      ['g', 'Done', undefined, 5, false]
    ]
  )
  t.equal(found[4]?.server, undefined)
})

t.test('a new try: fresh budgets, while what has ended stays so, and no record counts twice', async t => {
  const known = { name: 'n', ramMb: 512, migrationId: '7' }
  const gone = { ...known, destination: 'hv2', finishedAt: ago(9) }
  const used = { ...gone, attempts: 3, reason: 'MoveFailed', message: 'x', bytes: 9, startedAt: ago(10) }
  const states = ['Done', 'Gone', 'Failed', 'Migrating'] as const
  const ended = (id: string, state: Entry['state']): Entry => ({ id, state, ...used })
  const before = states.map((state, at) => ended(`${at}`, state))
  t.strictSame(entries(all({}, [...before, { id: '4', state: 'Done' }], true)), [
    { id: '0', state: 'Done', attempts: 0, ...gone },
    { id: '1', state: 'Gone', attempts: 0, ...gone },
    { id: '2', state: 'Waiting', attempts: 0, ...known },
    { id: '3', state: 'Waiting', attempts: 0, ...known },
    { id: '4', state: 'Done', attempts: 0 }
  ])
  t.strictSame(entries(all({}, before)), before, 'as it was, unless it begins anew')
})

const heard = (lastHeartbeat: string, ...active: string[]) => ({
  hypervisor: hypervisor({
    agent: { lastHeartbeat } as unknown as object,
    instances: [...active.map(id => ({ id, name: 'n', active: true })), { id: 'file', name: 'f', active: false }]
  })
})
const stray = (state: Entry['state'], startedAt: string): Entry => ({
  id: 'x',
  name: 'n',
  state,
  reason: 'DomainStillRunning',
  message: 'libvirt runs it on this host, but Nova does not place it here.',
  startedAt
})

t.test('EV-23: an active domain that Nova does not place here', async t => {
  t.strictSame(all(heard(ago(0), 'x')), [{ entry: stray('Waiting', ago(0)), server: undefined, here: true, dueMs: now + 10_000 }])
  t.strictSame(entries(all(heard(agoMs(90_000), 'x'))), [stray('Waiting', ago(0))])
  t.strictSame(all(heard(agoMs(90_001), 'x')), [], 'an agent that is silent knows nothing')
  t.strictSame(all({ hypervisor: hypervisor({ instances: [{ id: 'x', name: 'n', active: true }] }) }), [], 'nor one never heard')
  t.strictSame(all({ hypervisor: undefined }), [])
  const since = (ms: number, more: Partial<Entry> = {}) =>
    entries(all({ ...heard(ago(0), 'x'), left: new Map([['x', undefined]]) }, [{ ...stray('Waiting', agoMs(ms)), ...more }]))
  t.strictSame(since(120_000), [stray('Waiting', agoMs(120_000))], 'the agent reports in its own time')
  t.strictSame(since(120_001), [stray('Blocked', agoMs(120_001))], 'but not for ever')
  t.strictSame(since(120_001, { reason: 'Other' }), [stray('Waiting', ago(0))], 'its own time begins now')
  t.equal(entries(all({ ...heard(ago(0), 's'), servers: [server()] }))[0]?.reason, 'Next', 'Nova places it here')
})

t.test('EV-23: a domain is told of instead of what has ended, not of what is under way', async t => {
  for (const state of ['Done', 'Gone', 'Failed'] as const)
    t.strictSame(entries(all(heard(ago(0), 'x'), [{ id: 'x', state }])), [stray('Waiting', ago(0))], state)
  for (const state of ['Migrating', 'Confirming', 'Waiting', 'Blocked'] as const)
    t.strictSame(entries(all(heard(ago(0), 'x'), [{ id: 'x', state }])), [{ id: 'x', state }], state)
})
