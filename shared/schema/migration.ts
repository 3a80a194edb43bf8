import { crd, type Column, type Resource } from './crd.ts'
import { dateTime, int64, list, number, object, text, word } from './vocabulary.ts'

const bytes = (description: string) => int64(`${description}, in bytes`, { minimum: 0 })
const size = (description: string) => text(`${description}, such as 64.0 GiB`)
const span = (description: string) => text(`${description}, such as 35.078s`)

// Every figure of the texts above as a number, for programs.
const stats = object('The same figures as numbers', {
  sampledAt: dateTime('When they were read'),
  setupTimeMs: int64('Time to prepare, in ms'),
  timeElapsedMs: int64('Time since the start, in ms'),
  timeRemainingMs: int64('Expected time left, in ms'),
  downtimeMs: int64('Expected or real pause of the guest, in ms'),
  dataTotal: bytes('All data'),
  dataProcessed: bytes('Data moved'),
  dataRemaining: bytes('Data left'),
  memTotal: bytes('Memory'),
  memProcessed: bytes('Memory moved'),
  memRemaining: bytes('Memory left'),
  memNormalBytes: bytes('Memory sent as it is'),
  memPageSize: bytes('Size of a page'),
  memBps: bytes('Memory speed a second'),
  memDirtyRate: int64('Pages made dirty a second', { minimum: 0 }),
  memIteration: int64('Passes over the memory', { minimum: 0 }),
  diskTotal: bytes('Disk'),
  diskProcessed: bytes('Disk moved'),
  diskRemaining: bytes('Disk left'),
  diskBps: bytes('Disk speed a second'),
  autoConvergeThrottle: number('Slow-down of the guest, in percent', { minimum: 0, maximum: 100 })
})

const run = object(
  'An earlier run',
  {
    started: dateTime('Start'),
    finished: dateTime('End'),
    origin: text('From'),
    destination: text('To'),
    result: text('Outcome'),
    bytes: bytes('Data moved'),
    downtimeMs: int64('Pause of the guest, in ms', { minimum: 0 }),
    iterations: int64('Passes over the memory', { minimum: 0 })
  },
  { required: ['started'] }
)

// `type` and `operation` are open, as in the CRD in use (HV-2). Drover's own words for them:
export type MigrationType = 'bounded' | 'unbounded' | 'completed' | 'failed' | 'cancelled' | 'success'
export type MigrationOperation =
  | 'unknown'
  | 'start'
  | 'save'
  | 'restore'
  | 'migration_in'
  | 'migration_out'
  | 'snapshot'
  | 'snapshot_revert'
  | 'dump'
  | 'backup'
  | 'snapshot_delete'

const status = object(
  'How far it is',
  {
    origin: text('Host it comes from'),
    destination: text('Host it goes to'),
    started: dateTime('Start'),
    type: text('Kind of job: bounded, unbounded, completed, failed, cancelled, success'),
    operation: text('What libvirt is doing, such as migration_out'),
    errMsg: text('What went wrong'),
    setupTime: span('Time to prepare'),
    timeElapsed: span('Time since the start'),
    timeRemaining: span('Expected time left'),
    downtime: span('Pause of the guest'),
    dataTotal: size('All data'),
    dataProcessed: size('Data moved'),
    dataRemaining: size('Data left'),
    memTotal: size('Memory'),
    memProcessed: size('Memory moved'),
    memRemaining: size('Memory left'),
    memConstant: int64('Pages of one repeated byte'),
    memNormal: int64('Pages sent as they are'),
    memNormalBytes: size('Memory sent as it is'),
    memBps: text('Memory speed, such as 1.1 GiB/s'),
    memDirtyRate: text('Pages made dirty, such as 1250/s'),
    memIteration: int64('Passes over the memory'),
    memPageSize: size('Size of a page'),
    memPostcopyRequests: int64('Pages asked for by the destination'),
    diskTotal: size('Disk'),
    diskProcessed: size('Disk moved'),
    diskRemaining: size('Disk left'),
    diskBps: text('Disk speed, such as 200.0 MiB/s'),
    autoConvergeThrottle: text('Slow-down of the guest, such as 20%'),
    serverId: text('Server UUID'),
    novaMigrationId: text("Nova's migration record"),
    evictionRef: object('The Eviction that asked for it', { name: text('Name'), uid: text('UID') }, { required: ['name'] }),
    phase: word('Where it is', ['Queued', 'Running', 'PostCopy', 'Confirming', 'Completed', 'Failed', 'Cancelled', 'Lost']),
    finishedAt: dateTime('End'),
    result: text('Outcome'),
    reason: text('Why'),
    stats,
    history: list('Earlier runs of the same server', run, { maxItems: 10 })
  },
  { required: ['started'] }
)

const column = (name: string, field: string, type?: Column['type']): Column => ({
  name,
  jsonPath: `.status.${field}`,
  ...(type && { type })
})

export const Migration = crd({
  group: 'kvm.cloud.sap',
  version: 'v1alpha1',
  kind: 'Migration',
  plural: 'migrations',
  shortNames: ['mig'],
  scope: 'Namespaced',
  description: 'The move of a server from one host to another; named after the server',
  columns: [
    column('Origin', 'origin'),
    column('Destination', 'destination'),
    column('Type', 'type'),
    column('Operation', 'operation'),
    column('Started', 'started', 'date'),
    column('Elapsed', 'timeElapsed'),
    column('Data Total', 'dataTotal'),
    column('Data Processed', 'dataProcessed'),
    column('Data Remaining', 'dataRemaining'),
    column('Memory TX', 'memBps'),
    column('Memory Dirty Rate', 'memDirtyRate'),
    column('Memory Iteration', 'memIteration')
  ],
  specRequired: false, // nor is the status: the server drops it on create (HV-17)
  spec: object('Empty', {}),
  status
})
export type Migration = Resource<typeof Migration>
