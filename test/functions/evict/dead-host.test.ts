// HA-34: the servers of a dead host.
import t from 'tap'
import { classifyDead } from '../../../functions/evict/classify.ts'
import { ago, agoMs, around, minute, record, server, type Case, blocked, running, wait } from './server.ts'

const evacuation = record({ type: 'evacuation', status: 'pre-migrating', updated: ago(60) })
const late = record({ updated: agoMs(minute + 1) })
const notEvacuable = (vmState: string) => blocked('NotEvacuable', `Nova does not evacuate a server that is ${vmState}.`)

const dead: Case[] = [
  ['not there any more', undefined, {}, { do: 'gone' }],
  ['DELETED', server({ status: 'DELETED' }), {}, { do: 'gone' }],
  ['left alone', server(), { excluded: true }, { do: 'excluded' }],
  ['read in part', server({ partial: true }), {}, wait('Unknown', 'Nova does not know the state of the server (ACTIVE).')],
  ['without a state', server({ vmState: null }), {}, wait('Unknown', 'Nova does not know the state of the server (ACTIVE).')],
  [
    'elsewhere',
    server({ host: 'hv2' }),
    { records: [record({ type: 'evacuation', status: 'done' })] },
    { do: 'done', destination: 'hv2' }
  ],
  ['being deleted', server({ taskState: 'deleting' }), {}, { do: 'excluded' }],
  ['being deleted, to be restored', server({ taskState: 'soft-deleting' }), {}, { do: 'excluded' }],
  ['deleted, to be restored', server({ vmState: 'soft-delete' }), {}, { do: 'excluded' }],
  ['HA-34: its evacuation is under way, however long', server(), { records: [evacuation] }, { do: 'watch', record: evacuation }],
  ['HA-34: a live migration may still end within a minute', server(), { records: [running] }, { do: 'watch', record: running }],
  ['HA-34: … and no longer', server(), { records: [late] }, { do: 'evacuate' }],
  ['HA-34: what has ended is not waited for', server(), { records: [record({ status: 'error' })] }, { do: 'evacuate' }],
  [
    'a resize is open',
    server({ vmState: 'resized' }),
    { records: [late] },
    blocked('ResizeOpen', 'A resize of it is open; a person has to decide which side lives.')
  ],
  ['it never ran', server({ vmState: 'error', launchedAt: null }), {}, blocked('NotEvacuable', 'It never ran.')],
  ['in error', server({ vmState: 'error' }), {}, { do: 'evacuate' }],
  ['stopped', server({ vmState: 'stopped' }), {}, { do: 'evacuate' }],
  ['active, though no start was noted', server({ launchedAt: null }), {}, { do: 'evacuate' }],
  ...['paused', 'suspended', 'building', 'rescued', 'shelved'].map((vmState): Case => [
    vmState,
    server({ vmState }),
    {},
    notEvacuable(vmState)
  ])
]
for (const [name, given, more, then] of dead)
  t.test(`on a dead host: ${name}`, async t => t.strictSame(classifyDead(given, around(more)), then))
