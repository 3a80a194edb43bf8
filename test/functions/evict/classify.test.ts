// EV-6: the rows of the table §4.2, one by one.
import type { Server } from 'openstack-sdk-lite'
import t from 'tap'
import { cautious, classify, type Action, type Circumstances } from '../../../functions/evict/classify.ts'
import { ago, around, record, server } from './server.ts'

const cases: Array<[name: string, server: Server | undefined, circumstances: Partial<Circumstances>, then: Partial<Action>]> = [
  ['1: not there any more', undefined, {}, { do: 'gone' }],
  ['1: left alone', server(), { excluded: true }, { do: 'excluded' }],
  [
    '2: elsewhere, and the record says so (EV-19)',
    server({ host: 'hv2' }),
    { records: [record({ status: 'completed' })] },
    { do: 'done', destination: 'hv2' }
  ],
  ['2: elsewhere, but its record still runs', server({ host: 'hv2' }), { records: [record()] }, { do: 'watch' }],
  ['2: elsewhere without any record', server({ host: 'hv2', updated: ago(0) }), {}, { do: 'wait', reason: 'Settling' }],
  ['2: elsewhere without any record for a minute', server({ host: 'hv2' }), {}, { do: 'failed', reason: 'Disagreement' }],
  [
    '2: HV-29: a name that begins alike is another host',
    server({ host: 'hv1.example.com' }),
    { records: [record({ status: 'completed' })] },
    { do: 'done', destination: 'hv1.example.com' }
  ],
  [
    '2: no host is unknown, never elsewhere',
    server({ host: null }),
    { records: [record({ status: 'completed' })] },
    { do: 'wait', reason: 'Unknown' }
  ],
  [
    '2: … but for ten minutes on none, it is not here either',
    server({ host: null, updated: ago(11), status: 'ERROR', vmState: 'error' }),
    {},
    { do: 'failed', reason: 'Disagreement' }
  ],
  [
    '2: our cold move awaits its confirmation (EV-17)',
    server({ host: 'hv2', status: 'VERIFY_RESIZE', vmState: 'resized' }),
    { records: [record({ type: 'migration', status: 'finished' })] },
    { do: 'confirm' }
  ],
  [
    "2: a user's resize is the user's",
    server({ host: 'hv2', status: 'VERIFY_RESIZE', vmState: 'resized' }),
    { records: [record({ type: 'resize', status: 'finished' })] },
    { do: 'wait', reason: 'ResizeAwaitsUser' }
  ],
  ['3: deletion that hangs', server({ taskState: 'deleting', updated: ago(11) }), {}, { do: 'blocked', reason: 'DeleteStuck' }],
  [
    '5: migrating without a record',
    server({ status: 'MIGRATING', taskState: 'migrating', updated: ago(6) }),
    {},
    { do: 'blocked', reason: 'StuckTask' }
  ],
  [
    '5: … reset by policy',
    server({ status: 'MIGRATING', taskState: 'migrating', updated: ago(6) }),
    { policy: { ...cautious, resetStuck: true } },
    { do: 'reset' }
  ],
  [
    '6: a resize that nobody confirms',
    server({ status: 'VERIFY_RESIZE', vmState: 'resized', updated: ago(61) }),
    {},
    { do: 'blocked', reason: 'ResizeAwaitsUser' }
  ],
  [
    '6: … confirmed by policy',
    server({ status: 'VERIFY_RESIZE', vmState: 'resized', updated: ago(61) }),
    { policy: { ...cautious, confirmResize: true } },
    { do: 'confirm' }
  ],
  [
    '7: a task that hangs',
    server({ taskState: 'image_uploading', updated: ago(11) }),
    {},
    { do: 'blocked', reason: 'StuckTask' }
  ],
  [
    '8: ERROR tells its fault',
    server({ status: 'ERROR', vmState: 'error', fault: { code: 500, message: 'disk gone', created: null } }),
    {},
    { do: 'blocked', reason: 'ServerError', message: 'disk gone' }
  ],
  ...(
    [
      ['8: … reset by policy, if a move broke it and libvirt runs it', {}, { do: 'reset' }],
      ['8: … not if libvirt does not run it', { domain: 'stopped' }, { do: 'blocked' }],
      ['8: … not if the last move went well', { records: [record({ status: 'completed' })] }, { do: 'blocked' }],
      ['8: … not unless it is wanted', { policy: cautious }, { do: 'blocked' }]
    ] as const
  ).map(([name, more, then]): (typeof cases)[number] => [
    name,
    server({ status: 'ERROR', vmState: 'error' }),
    {
      policy: { ...cautious, resetAndRetry: true },
      domain: 'running',
      records: [record({ status: 'error' })],
      ...more
    },
    then
  ]),
  [
    '10: suspended, resumed by policy',
    server({ status: 'SUSPENDED', vmState: 'suspended' }),
    { policy: { ...cautious, resumeSuspended: true } },
    { do: 'resume' }
  ],
  [
    '11: offloaded, and on no host',
    server({ status: 'SHELVED_OFFLOADED', vmState: 'shelved_offloaded', host: null }),
    {},
    { do: 'done' }
  ],
  ['12: cold by wish', server(), { strategy: 'cold' }, { do: 'cold' }],
  ['13: Nova may be late: the agent sees it running', server({ powerState: 4 }), { domain: 'running' }, { do: 'live' }],
  [
    '13: just changed: wait for the power sync',
    server({ powerState: 4, updated: ago(0) }),
    {},
    { do: 'wait', reason: 'PowerUnsure' }
  ],
  [
    '13: stopped for Nova, running for libvirt',
    server({ status: 'SHUTOFF', vmState: 'stopped', powerState: 4 }),
    { domain: 'running' },
    { do: 'wait', reason: 'PowerUnsure' }
  ],
  [
    '14: paused is moved live even if cold is wished: Nova refuses cold',
    server({ status: 'PAUSED', vmState: 'paused', powerState: 3 }),
    { strategy: 'cold' },
    { do: 'live' }
  ],
  [
    '15: a cell that does not answer',
    server({ status: 'UNKNOWN', partial: true, vmState: null, host: null }),
    {},
    { do: 'wait', reason: 'Unknown' }
  ],
  ['EV-8: locked servers are moved', server({ locked: true }), {}, { do: 'live' }]
]
for (const [name, given, circumstances, then] of cases)
  t.test(name, async t => t.match(classify(given, around(circumstances)), then))
