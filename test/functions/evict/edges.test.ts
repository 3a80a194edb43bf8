// EV-6: the limits of the table §4.2 to the millisecond, and its words.
import t from 'tap'
import { cautious, classify, type Action } from '../../../functions/evict/classify.ts'
import { ago, agoMs, around, minute, record, server, type Case, blocked, running, wait } from './server.ts'

const disagrees = (message: string): Action => ({ do: 'failed', reason: 'Disagreement', message })
const cold = record({ type: 'migration', status: 'finished', updated: ago(1) })
const colder = { ...cold, updated: agoMs(minute + 1) }
const ended = (updated: string) => record({ status: 'completed', updated })
const back = record({ source: 'hv2', target: 'hv1', status: 'reverted' })
const migrating = server({ status: 'MIGRATING', taskState: 'migrating', updated: ago(60) })
const noMove = blocked('StuckTask', 'Nova says that it is migrating, but has had no move of it under way for 5 minutes.')
const resize = 'Its user has not confirmed or reverted a resize.'
const unsure = (state: number | string) => wait('PowerUnsure', `Nova says ACTIVE, but its power state is ${state}.`)
const nothingSaid = disagrees('It is on hv2 (ACTIVE, task none), but its record says nothing.')
const late = record({ updated: ago(60) })

const cases: Case[] = [
  ['1: DELETED is gone', server({ status: 'DELETED', vmState: 'deleted' }), {}, { do: 'gone' }],
  [
    '2: a move that was taken back: it is where it came from',
    server({ host: 'hv2' }),
    { records: [back] },
    { do: 'done', destination: 'hv2' }
  ],
  [
    '2: only what was taken back from here counts',
    server({ host: 'hv2' }),
    { records: [{ ...back, target: 'hv9' }] },
    nothingSaid
  ],
  ['2: only what was taken back', server({ host: 'hv2' }), { records: [{ ...back, status: 'completed' }] }, nothingSaid],
  [
    '2: not while Nova has a task for it',
    server({ host: 'hv2', taskState: 'powering-off' }),
    { records: [ended(ago(5))] },
    wait('Settling', 'It is on hv2 (ACTIVE, task powering-off), but its record says completed.')
  ],
  [
    '2: not in a status that is none',
    server({ host: 'hv2', status: 'ERROR' }),
    { records: [ended(ago(5))] },
    disagrees('It is on hv2 (ERROR, task none), but its record says completed.')
  ],
  [
    '2: a cold move that nobody confirms is watched for a minute',
    server({ host: 'hv2', updated: ago(60) }),
    { records: [cold] },
    { do: 'watch', record: cold }
  ],
  [
    '2: … and no longer',
    server({ host: 'hv2', updated: ago(60) }),
    { records: [colder] },
    disagrees('It is on hv2 (ACTIVE, task none), but its record says finished.')
  ],
  [
    '2: settles within a minute',
    server({ host: 'hv2', updated: agoMs(minute) }),
    {},
    wait('Settling', 'It is on hv2 (ACTIVE, task none), but its record says nothing.')
  ],
  ['2: … and no longer', server({ host: 'hv2', updated: agoMs(minute + 1) }), {}, nothingSaid],
  [
    '2: the record may be younger than the server',
    server({ host: 'hv2', updated: ago(60) }),
    { records: [record({ status: 'failed', updated: agoMs(minute) })] },
    wait('Settling', 'It is on hv2 (ACTIVE, task none), but its record says failed.')
  ],
  [
    '2: awaits its confirmation, but Nova has a task for it',
    server({ host: 'hv2', status: 'VERIFY_RESIZE', taskState: 'resize_confirming', updated: ago(60) }),
    { records: [cold] },
    { do: 'watch', record: cold }
  ],
  [
    '2: on no host for ten minutes',
    server({ host: null, updated: ago(10) }),
    {},
    wait('Unknown', 'Nova does not know the state of the server (ACTIVE, on no host).')
  ],
  [
    '2: … and longer',
    server({ host: null, updated: agoMs(10 * minute + 1) }),
    {},
    disagrees('It is on no host (ACTIVE), and has been so for more than 10 minutes.')
  ],
  [
    '3: deleting for ten minutes',
    server({ taskState: 'deleting', updated: ago(10) }),
    {},
    wait('Deleting', 'It is being deleted.')
  ],
  [
    '3: … and longer',
    server({ taskState: 'soft-deleting', updated: agoMs(10 * minute + 1) }),
    {},
    blocked('DeleteStuck', 'It has been soft-deleting for more than 10 minutes.')
  ],
  [
    '4: a resize is watched by its record',
    server({ status: 'RESIZE', taskState: 'resize_prep' }),
    { records: [running] },
    { do: 'watch', record: running }
  ],
  ...['RESIZE', 'REVERT_RESIZE', 'MIGRATING'].map((status): Case => [
    `4: ${status} without a task`,
    server({ status }),
    { records: [ended(ago(1))] },
    { do: 'watch' }
  ]),
  [
    '4: of two records under way, the newest',
    server({ status: 'RESIZE' }),
    { records: [running, record({ id: 0 })] },
    { do: 'watch', record: running }
  ],
  ...['PAUSED', 'SHUTOFF', 'SUSPENDED', 'RESCUE', 'SHELVED'].map((status): Case => [
    `EV-19: elsewhere and ${status}`,
    server({ host: 'hv2', status }),
    { records: [record({ status: 'completed' })] },
    { do: 'done', destination: 'hv2' }
  ]),
  [
    '2: a record under way, however long ago it changed',
    server({ host: 'hv2' }),
    { records: [late] },
    { do: 'watch', record: late }
  ],
  ['5: its record still runs', migrating, { records: [running] }, { do: 'watch', record: running }],
  ['5: its last record ended five minutes ago', migrating, { records: [ended(ago(5))] }, { do: 'watch' }],
  ['5: … and longer', migrating, { records: [ended(agoMs(5 * minute + 1))] }, noMove],
  ['5: it changed five minutes ago', { ...migrating, updated: ago(5) }, {}, { do: 'watch' }],
  ['5: … and longer', { ...migrating, updated: agoMs(5 * minute + 1) }, {}, noMove],
  [
    '6: an hour for its user',
    server({ status: 'VERIFY_RESIZE', vmState: 'resized', updated: ago(60) }),
    {},
    wait('ResizeAwaitsUser', resize)
  ],
  [
    '6: … and longer',
    server({ status: 'VERIFY_RESIZE', vmState: 'resized', updated: agoMs(60 * minute + 1) }),
    {},
    blocked('ResizeAwaitsUser', resize)
  ],
  ...['BUILD', 'REBOOT', 'HARD_REBOOT', 'PASSWORD', 'REBUILD'].map((status): Case => [
    `7: ${status} without a task`,
    server({ status }),
    {},
    wait('Busy', `Nova is busy with it (${status}).`)
  ]),
  [
    '7: busy for ten minutes',
    server({ taskState: 'pausing', updated: ago(10) }),
    {},
    wait('Busy', 'Nova is busy with it (pausing).')
  ],
  [
    '7: … and longer',
    server({ taskState: 'pausing', updated: agoMs(10 * minute + 1) }),
    {},
    blocked('StuckTask', 'Nova has been busy with it for more than 10 minutes (pausing).')
  ],
  [
    '7: … without a task',
    server({ status: 'BUILD', updated: ago(11) }),
    {},
    blocked('StuckTask', 'Nova has been busy with it for more than 10 minutes (BUILD).')
  ],
  ['a record without a task is watched', server(), { records: [running] }, { do: 'watch', record: running }],
  ['… but not one that only awaits its confirmation', server(), { records: [cold] }, { do: 'live' }],
  [
    '8: ERROR without a fault',
    server({ status: 'ERROR', vmState: 'error' }),
    {},
    blocked('ServerError', 'The server is in ERROR.')
  ],
  [
    '8: only a move away from here can have broken it',
    server({ status: 'ERROR', vmState: 'error' }),
    {
      policy: { ...cautious, resetAndRetry: true },
      domain: 'running',
      records: [record({ status: 'error', source: 'hv3', target: 'hv1' })]
    },
    blocked('ServerError', 'The server is in ERROR.')
  ],
  [
    '9: rescue',
    server({ status: 'RESCUE', vmState: 'rescued' }),
    {},
    blocked('Rescue', 'It runs its rescue image; Nova moves it neither live nor cold.')
  ],
  [
    '9: soft-deleted',
    server({ status: 'SOFT_DELETED', vmState: 'soft-delete' }),
    {},
    blocked('SoftDeleted', 'It is deleted, but can still be restored and holds its place.')
  ],
  [
    '10: suspended',
    server({ status: 'SUSPENDED', vmState: 'suspended' }),
    {},
    blocked('Suspended', 'Nova moves a suspended server neither live nor cold.')
  ],
  [
    '11: offloaded, still here',
    server({ status: 'SHELVED_OFFLOADED', vmState: 'shelved_offloaded' }),
    {},
    wait('Offloading', 'Nova is about to let go of the host.')
  ],
  ['12: a paused domain runs', server({ powerState: 3 }), { strategy: 'live' }, { do: 'live' }],
  ['13: a minute for the power sync', server({ powerState: 4, updated: agoMs(minute) }), {}, unsure(4)],
  ['13: … and no longer', server({ powerState: 4, updated: agoMs(minute + 1) }), {}, { do: 'cold' }],
  ['13: no power state at all', server({ powerState: null, updated: ago(0) }), { domain: 'stopped' }, unsure('unknown')],
  ['13: stopped for both', server({ status: 'SHUTOFF', vmState: 'stopped' }), { domain: 'stopped' }, { do: 'cold' }],
  [
    '13: running for libvirt',
    server({ status: 'SHUTOFF', vmState: 'stopped' }),
    { domain: 'running' },
    wait('PowerUnsure', 'Nova says that it is stopped, libvirt that it runs.')
  ],
  [
    '15: a status that nobody knows',
    server({ status: 'ODD', vmState: 'new' }),
    {},
    wait('Unknown', 'Nova does not know the state of the server (ODD, new).')
  ],
  [
    '15: UNKNOWN, whatever else is known',
    server({ status: 'UNKNOWN' }),
    {},
    wait('Unknown', 'Nova does not know the state of the server (UNKNOWN).')
  ],
  ...[server({ partial: true }), server({ vmState: null })].map((given): Case => [
    '15: read in part',
    given,
    {},
    wait('Unknown', 'Nova does not know the state of the server (ACTIVE).')
  ])
]
for (const [name, given, more, then] of cases) t.test(name, async t => t.strictSame(classify(given, around(more)), then))
