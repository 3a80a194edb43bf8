import { conditions } from './conditions.ts'
import { dateTime, int32, int64, list, listMap, object, text, word } from './vocabulary.ts'

const instance = object(
  'One server',
  {
    id: text('Server UUID'),
    name: text('Server name'),
    state: word('How far it is', [
      'Waiting',
      'Queued',
      'Migrating',
      'Confirming',
      'Done',
      'Gone',
      'Excluded',
      'Blocked',
      'Failed'
    ]),
    strategy: text('How it is moved'),
    attempts: int32('Moves started', { minimum: 0 }),
    reason: text('Why it is in this state, as one word'),
    message: text('The same for people'),
    destination: text('Where it goes'),
    startedAt: dateTime('Start of the move'),
    finishedAt: dateTime('End of the move'),
    bytes: int64('Bytes moved', { minimum: 0 }),
    ramMb: int64('Memory of the flavor in MiB', { minimum: 0 }),
    migrationId: text("Nova's migration record"),
    confirmFailures: int32('How often Nova refused to confirm a cold move', { minimum: 0 }),
    refusals: int32('How often in a row Nova refused to begin its move', { minimum: 0 }),
    aborts: int32('How often Nova was asked to give this move up', { minimum: 0 }),
    abortedAt: dateTime('When Nova was last asked to give it up')
  },
  { required: ['id', 'state'] }
)

const check = object(
  'One check',
  { check: text('Name of the check'), result: word('Outcome', ['Pass', 'Warn', 'Fail']), message: text('What was found') },
  { required: ['check', 'result'] }
)

const incoming = object(
  'A migration that was on its way to the host',
  {
    migrationId: text("Nova's migration record"),
    serverId: text('Server UUID'),
    status: text("Nova's status of it"),
    action: text('What was done about it')
  },
  { required: ['migrationId'] }
)

const count = (description: string) => int32(description, { minimum: 0 })

export const evictionStatus = object('How far it is', {
  hypervisorServiceId: text('UUID of the compute service; for information only'),
  outstandingRamMb: int64('Memory of the servers that are left, in MiB', { default: 0 }),
  outstandingInstances: list('Servers that are left; the last one is next', text('Server UUID')),
  conditions: conditions(),
  observedGeneration: int64('The generation this speaks about'),
  phase: word('Where it is', ['Preflight', 'Settling', 'Draining', 'Verifying', 'Done']),
  verdict: word('How it ended', [
    'Succeeded',
    'SucceededWithExclusions',
    'Incomplete',
    'Cancelled',
    'Failed',
    'HostMissing',
    'Planned'
  ]),
  startedAt: dateTime('Start'),
  finishedAt: dateTime('End'),
  hypervisorId: text('UUID of the hypervisor in Nova'),
  preflight: listMap('Checks before the first move', check, ['check']),
  incoming: listMap('Migrations that were on their way to the host', incoming, ['migrationId']),
  instances: listMap('The servers; finished ones may have been dropped', instance, ['id'], { maxItems: 500 }), // HV-15
  progress: object('Counts that also cover dropped entries', {
    total: count('All servers'),
    done: count('Moved or gone'),
    running: count('On the move'),
    waiting: count('Not yet begun'),
    failed: count('Failed for good'),
    blocked: count('Cannot be moved'),
    excluded: count('Left alone'),
    bytesTotal: int64('Bytes to move', { minimum: 0 }),
    bytesDone: int64('Bytes moved', { minimum: 0 })
  }),
  waitingFor: text('What is awaited'), // HV-10
  nextCheckAt: dateTime('When it is looked at again if no event comes before'),
  emptySince: dateTime('When the host was first listed without a server; success needs a second such list (EV-23)'),
  retryToken: text('The token of the spec that this speaks about'),
  eta: dateTime('Expected end'),
  etaConfidence: word('How sure that is', ['low', 'medium', 'high'])
})
