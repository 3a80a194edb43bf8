// One server in one pass: what Nova shows now, joined with what the status remembers of it (EV-6, EV-21, EV-24).
import type { Server } from 'openstack-sdk-lite'
import t from 'tap'
import { cautious } from '../../../functions/evict/classify.ts'
import { judge, type Judged, type Scene } from '../../../functions/evict/judge.ts'
import type { MoveRecord } from '../../../functions/evict/records.ts'
import type { Entry, Options, Seen } from '../../../functions/evict/seen.ts'
import { eviction, hypervisor, place, seen } from './seen.ts'
import { ago, now, record, server } from './server.ts'
import { options } from './options.ts'

interface Given {
  server?: Server | undefined
  before?: Partial<Entry>
  records?: MoveRecord[]
  seen?: Partial<Seen>
  scene?: Partial<Scene>
  options?: Partial<Options>
}
const judged = ({ before, records = [], seen: more, scene, options: other, ...given }: Given): Judged =>
  judge(
    's',
    'server' in given ? given.server : server(),
    before && { id: 's', state: 'Waiting', ...before },
    records,
    seen(more),
    { ...place, ...scene },
    { ...options, ...other }
  )
const at = '2026-11-16T12:00:00Z'
const base = { id: 's', name: 's', attempts: 0 }
const says = (state: Entry['state'], reason: string, message: string): Entry => ({ ...base, state, reason, message })
const flavor = (ramMiB: number) => ({ ramMiB }) as unknown as NonNullable<Server['flavor']>
const of = (spec: Parameters<typeof eviction>[0]) => ({ eviction: eviction(spec) })
const gone = server({ host: 'hv2' })
const moved = record({ id: 7, status: 'completed', created: ago(3) })
const doneEntry: Entry = { ...base, state: 'Done', attempts: 1, migrationId: '7', destination: 'hv2', finishedAt: at }
const domain = (id: string, active: boolean) => ({ id, name: id, active })
const runs = (active: boolean) => ({ hypervisor: hypervisor({ instances: [domain('x', !active), domain('s', active)] }) })
const off = server({ status: 'SHUTOFF', vmState: 'stopped' })
const known: Partial<Entry> = {
  name: 'old',
  strategy: 'live',
  attempts: 2,
  ramMb: 512,
  bytes: 9,
  startedAt: ago(9),
  finishedAt: ago(8),
  migrationId: '6',
  destination: 'hv3'
}
const { finishedAt: _, ...unended } = known
const running = {
  name: 's',
  attempts: 3,
  migrationId: '7',
  destination: 'hv2',
  startedAt: '2026-11-16T11:57:00Z',
  reason: 'running'
}
const next = { ...base, state: 'Waiting', strategy: 'live', reason: 'Next' } as const

const cases: Array<[name: string, given: Given, wanted: Omit<Judged, 'server'>]> = [
  ['row 12: it may be moved', {}, { entry: next, here: true, candidate: 'live' }],
  [
    'its memory is that of its flavor',
    { server: server({ flavor: flavor(1024) }), before: { ramMb: 512 } },
    { entry: { ...next, ramMb: 1024 }, here: true, candidate: 'live' }
  ],
  [
    'row 1: gone; what was known of it stays',
    { server: undefined, before: known },
    { entry: { id: 's', state: 'Gone', ...known, finishedAt: at }, here: false }
  ],
  [
    'row 1: gone since',
    { server: undefined, before: { state: 'Gone', finishedAt: ago(5) } },
    { entry: { id: 's', state: 'Gone', attempts: 0, finishedAt: ago(5) }, here: false }
  ],
  [
    'row 1: gone, nobody knows since when',
    { server: undefined, before: { state: 'Done' } },
    { entry: { id: 's', state: 'Gone', attempts: 0 }, here: false }
  ],
  [
    'row 1: excluded',
    { seen: of({ exclude: [{ id: 's' }] }) },
    { entry: { ...base, state: 'Excluded', reason: 'Excluded' }, here: true }
  ],
  ['row 1: another is excluded', { seen: of({ exclude: [{ id: 'x' }] }) }, { entry: next, here: true, candidate: 'live' }],
  [
    'row 1: excluded only while it is here',
    { server: gone, seen: of({ exclude: [{ id: 's' }] }), records: [moved] },
    { entry: doneEntry, here: false }
  ],
  ['EV-19: moved', { server: gone, records: [moved] }, { entry: doneEntry, here: false }],
  [
    'EV-19: moved since',
    { server: gone, records: [moved], before: { state: 'Done', finishedAt: ago(1), migrationId: '7', attempts: 1 } },
    { entry: { ...doneEntry, finishedAt: ago(1) }, here: false }
  ],
  [
    'EV-26: moved, with what was copied',
    { server: gone, records: [moved], seen: { copied: new Map([['s', 0]]) } },
    { entry: { ...doneEntry, bytes: 0 }, here: false }
  ],
  [
    'EV-12: moved by somebody else, before the drain began',
    { server: gone, records: [moved], scene: { sinceMs: now - 179_999 } },
    { entry: { ...base, state: 'Done', destination: 'hv2', finishedAt: at }, here: false }
  ],
  [
    'EV-12: moved as the drain began',
    { server: gone, records: [moved], scene: { sinceMs: now - 180_000 } },
    { entry: doneEntry, here: false }
  ],
  [
    'row 10: what was resumed is suspended again',
    { server: gone, records: [moved], before: { strategy: 'resume' } },
    {
      entry: { ...doneEntry, state: 'Confirming', strategy: 'resume', reason: 'Prepared' },
      here: false,
      call: { do: 'suspend', server: 's' }
    }
  ],
  [
    'row 10: … and is so',
    { server: { ...gone, status: 'SUSPENDED' }, records: [moved], before: { strategy: 'resume' } },
    { entry: { ...doneEntry, strategy: 'resume' }, here: false }
  ],
  [
    'row 9: blocked',
    { server: server({ status: 'RESCUE' }) },
    {
      entry: says('Blocked', 'Rescue', 'It runs its rescue image; Nova moves it neither live nor cold.'),
      here: true
    }
  ],
  [
    'row 2: nobody agrees',
    { server: gone },
    {
      entry: says('Failed', 'Disagreement', 'It is on hv2 (ACTIVE, task none), but its record says nothing.'),
      here: false
    }
  ],
  [
    'row 2: nobody agrees yet',
    { server: { ...gone, updated: ago(0) } },
    {
      entry: says('Confirming', 'Settling', 'It is on hv2 (ACTIVE, task none), but its record says nothing.'),
      here: false
    }
  ],
  [
    'HV-29: on no host, it counts as here',
    { server: server({ host: null }) },
    {
      entry: says('Waiting', 'Unknown', 'Nova does not know the state of the server (ACTIVE, on no host).'),
      here: true
    }
  ],
  [
    'HV-29: … but not for ever',
    { server: server({ host: null, updated: ago(11) }) },
    {
      entry: says('Failed', 'Disagreement', 'It is on no host (ACTIVE), and has been so for more than 10 minutes.'),
      here: false
    }
  ],
  [
    'EV-18: a new move has no end yet',
    { before: known, records: [record({ id: 7 })] },
    {
      entry: { id: 's', state: 'Migrating', ...unended, ...running },
      here: true,
      dueMs: now + 27 * 60_000
    }
  ],
  [
    'row 13: libvirt does not run it',
    { server: off, seen: runs(false) },
    { entry: { ...next, strategy: 'cold' }, here: true, candidate: 'cold' }
  ],
  [
    'row 13: libvirt runs it',
    { server: off, seen: runs(true) },
    {
      entry: says('Waiting', 'PowerUnsure', 'Nova says that it is stopped, libvirt that it runs.'),
      here: true
    }
  ],
  [
    'row 12: cold by wish',
    { seen: of({ strategy: 'cold' }) },
    { entry: { ...next, strategy: 'cold' }, here: true, candidate: 'cold' }
  ],
  [
    'EV-27: on a dead host it is evacuated',
    { seen: of({ mode: 'evacuate' }) },
    { entry: { ...next, strategy: 'evacuate' }, here: true, candidate: 'evacuate' }
  ],
  [
    'row 11: shelved',
    { server: server({ status: 'SHELVED', vmState: 'shelved' }) },
    {
      entry: says('Waiting', 'Prepared', 'It is shelved and gives up its place.'),
      here: true,
      call: { do: 'offload', server: 's' }
    }
  ],
  [
    'row 10: resumed by policy',
    { server: server({ status: 'SUSPENDED' }), options: { policy: { ...cautious, resumeSuspended: true } } },
    {
      entry: {
        ...base,
        state: 'Waiting',
        reason: 'Prepared',
        message: 'It is resumed, so that it can be moved, and suspended afterwards.',
        strategy: 'resume'
      },
      here: true,
      call: { do: 'resume', server: 's' }
    }
  ],
  [
    'row 5: reset by policy',
    { server: server({ status: 'MIGRATING', updated: ago(6) }), options: { policy: { ...cautious, resetStuck: true } } },
    {
      entry: says('Waiting', 'Prepared', 'Its last move left it in a wrong state, which is reset.'),
      here: true,
      call: { do: 'reset', server: 's' }
    }
  ]
]
for (const [name, given, wanted] of cases) {
  t.test(name, async t => {
    const shown = 'server' in given ? given.server : server()
    t.strictSame(judged(given), { server: shown, ...wanted })
  })
}
