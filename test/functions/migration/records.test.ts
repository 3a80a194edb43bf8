// Long: one table for each part of a status. HV-16…HV-18: a Migration object after Nova's record, a sample or an end, field by field; when it is lost and when it is old.
import t from 'tap'
import {
  afterSample,
  figuresOf,
  isEarlier,
  isOld,
  isOver,
  isSilent,
  lost,
  manager,
  withRecord,
  type Sample,
  type Status
} from '../../../functions/migration/decide.ts'

const seenAt = new Date('2026-11-16T13:00:00Z')
const recorded = (...[before, record, ref]: RecordArguments) => withRecord(before, record, ref, seenAt)
type RecordArguments = Parameters<typeof withRecord> extends [infer A, infer B, infer C, Date] ? [A, B, C] : never

type Record = Parameters<typeof withRecord>[1]
const record: Record = {
  id: 7,
  uuid: 'u',
  server: 's',
  type: 'migration',
  status: 'running',
  source: 'hv1',
  target: 'hv3',
  created: '2026-11-16T12:00:00.000000',
  updated: '2026-11-16T12:00:05.000000'
}
const status = (more: Partial<Status> = {}): Status => ({ serverId: 's', started: '2026-11-16T11:00:00Z', ...more })

t.test('a record of which nobody else has told', async t => {
  t.strictSame(recorded(undefined, record, undefined), {
    serverId: 's',
    started: '2026-11-16T12:00:00Z',
    origin: 'hv1',
    destination: 'hv3',
    novaMigrationId: '7',
    phase: 'Running',
    operation: 'migration_out',
    type: 'unbounded'
  })
  t.strictSame(recorded(undefined, { ...record, status: 'error', target: null, updated: null }, { name: 'e' }), {
    serverId: 's',
    started: '2026-11-16T12:00:00Z',
    origin: 'hv1',
    novaMigrationId: '7',
    evictionRef: { name: 'e' },
    phase: 'Failed',
    finishedAt: '2026-11-16T12:00:00Z',
    result: 'error',
    operation: 'migration_out',
    type: 'failed'
  })
  t.match(recorded(undefined, { ...record, status: 'completed' }, undefined), { type: 'completed', phase: 'Completed' })
  for (const created of ['2026-11-16T12:00:00Z', '2026-11-16T14:00:00+02:00'])
    t.equal(recorded(undefined, { ...record, created }, undefined).started, '2026-11-16T12:00:00Z')
  t.equal(manager, 'drover-migration')
  const unknown = recorded(undefined, { ...record, status: 'completed', created: '', updated: null }, undefined)
  t.strictSame(
    [unknown.started, unknown.finishedAt],
    ['2026-11-16T13:00:00Z', '2026-11-16T13:00:00Z'],
    'a time that Nova left out'
  )
  t.equal(isEarlier({ ...record, status: 'completed', created: '', updated: null }, unknown), false)
})

const phases = {
  accepted: 'Queued',
  queued: 'Queued',
  'pre-migrating': 'Queued',
  preparing: 'Running',
  finished: 'Confirming',
  confirming: 'Confirming',
  completed: 'Completed',
  confirmed: 'Completed',
  done: 'Completed',
  failed: 'Failed',
  error: 'Failed',
  reverted: 'Cancelled',
  cancelled: 'Cancelled'
}
for (const [novaStatus, phase] of Object.entries(phases)) {
  t.test(`Nova's ${novaStatus} is ${phase}`, async t => {
    const found = recorded(undefined, { ...record, status: novaStatus }, undefined)
    t.equal(found.phase, phase)
    t.equal(found.finishedAt !== undefined, ['Completed', 'Failed', 'Cancelled'].includes(phase))
    t.equal(isOver(found), found.finishedAt !== undefined)
  })
}

t.test('a record of the move that is known, and of the next one', async t => {
  const known = status({ phase: 'PostCopy', novaMigrationId: '7', type: 'unbounded' })
  t.equal(recorded(known, record, undefined).phase, 'PostCopy', 'Nova knows no post-copy')
  t.equal(recorded(known, { ...record, status: 'completed' }, undefined).phase, 'Completed')
  t.equal(recorded(known, record, undefined).started, known.started)
  t.equal('operation' in recorded(known, record, undefined), false)
  const over = status({ phase: 'Failed', result: 'failed', finishedAt: '2026-11-16T11:10:00Z', novaMigrationId: '7' })
  const same = recorded(over, { ...record, status: 'completed' }, undefined)
  t.match(same, { phase: 'Failed', result: 'failed', finishedAt: '2026-11-16T11:10:00Z' }, "the agent's word on the end stays")
  t.equal('history' in same, false)
  const next = recorded(over, { ...record, id: 8 }, undefined)
  t.strictSame(next.history, [{ started: over.started, finished: '2026-11-16T11:10:00Z', result: 'failed' }])
  t.equal(next.started, '2026-11-16T12:00:00Z')
  t.equal(next.phase, 'Running')
  t.equal('finishedAt' in next, false)
  const { novaMigrationId: _, ...unnumbered } = over
  t.equal('history' in recorded(unnumbered, { ...record, id: 8 }, undefined), false, 'its number was not known yet')
  const open = recorded({ ...known, novaMigrationId: '6' }, record, undefined)
  t.equal('history' in open, false, 'what is not over is the same move')
})

t.test('HV-16: the last ten runs are kept, with their figures', async t => {
  const stats = { dataProcessed: 5, downtimeMs: 0, memIteration: 3, sampledAt: '2026-11-16T11:00:00Z' }
  const old = Array.from({ length: 10 }, (_, at) => ({ started: `2026-11-0${at}T00:00:00Z` }))
  const over = status({ phase: 'Completed', origin: 'a', destination: 'b', novaMigrationId: '1', stats, history: old })
  const { history = [] } = recorded(over, record, undefined)
  t.strictSame(history[0], { started: over.started, origin: 'a', destination: 'b', bytes: 5, downtimeMs: 0, iterations: 3 })
  t.strictSame(history.slice(1), old.slice(0, 9))
})

const sample: Sample = { server: 's', host: 'hv1', at: '2026-11-16T12:00:10Z', origin: 'hv1', stats: {} }

t.test('a sample, whole', async t => {
  t.strictSame(afterSample(undefined, { ...sample, stats: { timeElapsedMs: 4000, errMsg: 'x', memBps: 1024, memNormal: 2 } }), {
    serverId: 's',
    started: '2026-11-16T12:00:06Z',
    origin: 'hv1',
    timeElapsed: '4s',
    memBps: '1.0 KiB/s',
    memNormal: 2,
    stats: { timeElapsedMs: 4000, memBps: 1024, sampledAt: sample.at },
    errMsg: 'x',
    phase: 'Running'
  })
  t.equal(afterSample(undefined, { ...sample, stats: { phase: 'PostCopyRecover' } }).phase, 'PostCopy')
  t.strictSame(figuresOf({ memTotal: 'many', memPageSize: 4096 }, 'T'), {
    memPageSize: '4.0 KiB',
    stats: { memPageSize: 4096, sampledAt: 'T' }
  })
})

t.test('HV-18: every figure of the listing, as text and as a number', async t => {
  const counts = { memConstant: 11, memNormal: 12, memIteration: 13, memPostcopyRequests: 14 }
  const kib = (name: string, at: number): [string, number] => [name, at * 1024]
  const sizes = [
    'dataTotal',
    'dataProcessed',
    'dataRemaining',
    'memTotal',
    'memProcessed',
    'memRemaining',
    'memNormalBytes',
    'memPageSize',
    'diskTotal',
    'diskProcessed',
    'diskRemaining'
  ].map((name, at) => kib(name, at + 1))
  const rates = ['memBps', 'diskBps'].map((name, at) => kib(name, at + 20))
  const spans = { setupTimeMs: 1000, timeElapsedMs: 2000, timeRemainingMs: 3000, downtimeMs: 4000 }
  const others = { memDirtyRate: 1250, autoConvergeThrottle: 20 }
  const numbers = { ...spans, ...Object.fromEntries([...sizes, ...rates]), ...others }
  t.strictSame(figuresOf({ ...numbers, ...counts, unheardOf: 1, memTotal: 4096.4 }, 'T'), {
    setupTime: '1s',
    timeElapsed: '2s',
    timeRemaining: '3s',
    downtime: '4s',
    ...Object.fromEntries(sizes.map(([name, bytes]) => [name, `${bytes / 1024}.0 KiB`])),
    ...Object.fromEntries(rates.map(([name, bytes]) => [name, `${bytes / 1024}.0 KiB/s`])),
    memDirtyRate: '1250/s',
    autoConvergeThrottle: '20%',
    ...counts,
    stats: { ...numbers, memTotal: 4096, memIteration: 13, sampledAt: 'T' }
  })
})

t.test('each end by its result', async t => {
  for (const [result, phase] of Object.entries({ success: 'Completed', cancelled: 'Cancelled', failed: 'Failed', odd: 'Failed' }))
    t.match(afterSample(undefined, { ...sample, result }), { phase, result, finishedAt: sample.at })
})

t.test('the end as the other side tells it', async t => {
  const completed = status({ phase: 'Completed', result: 'success', finishedAt: '2026-11-16T12:00:00Z' })
  const other: Sample = { ...sample, destination: 'hv2', result: 'failed' }
  t.match(afterSample(completed, other), { phase: 'Completed', result: 'success' }, 'a success was told first')
  t.match(afterSample({ ...completed, phase: 'Failed', result: 'failed' }, { ...other, result: 'success' }), {
    phase: 'Completed',
    result: 'success'
  })
  t.equal(
    'history' in afterSample(completed, { ...other, at: '2026-11-16T12:00:59.999Z' }),
    false,
    'within a minute: the same move'
  )
  t.equal('history' in afterSample(completed, { ...other, at: '2026-11-16T12:01:00Z' }), true, 'another one')
})

t.test('times are whole seconds: a move that begins a second after the last end may be the same', async t => {
  const failed = status({ phase: 'Failed', finishedAt: '2026-11-16T12:00:09Z' })
  t.strictSame(afterSample(failed, { ...sample, at: '2026-11-16T12:00:09Z' }), failed, 'old news')
  t.strictSame(afterSample(failed, sample), failed, 'as old: the end is told in whole seconds')
  t.equal('history' in afterSample(failed, { ...sample, at: '2026-11-16T12:00:10.001Z' }), true)
  const quick: Sample = { ...sample, at: '2026-11-16T12:00:12Z', result: 'success' }
  t.match(afterSample({ ...failed, phase: 'Completed' }, { ...quick, result: 'failed', stats: { timeElapsedMs: 1000 } }), {
    phase: 'Failed',
    result: 'failed',
    started: '2026-11-16T12:00:11Z'
  })
  t.match(afterSample(failed, quick), { started: failed.started, phase: 'Completed' }, 'the word of the other side')
})

t.test('HV-18: what the destination tells is not put over what the source told', async t => {
  const first: Sample = { ...sample, stats: { timeElapsedMs: 1000, dataTotal: 4096, dataProcessed: 1024 } }
  const source = afterSample(undefined, first)
  const fromDestination: Sample = { ...sample, at: '2026-11-16T12:00:12Z', origin: undefined, destination: 'hv2' }
  const arrived = afterSample(source, { ...fromDestination, stats: { timeElapsedMs: 3000, dataTotal: 1 } })
  t.strictSame(arrived, { ...source, destination: 'hv2' })
  const next = afterSample(source, { ...first, at: '2026-11-16T12:00:11Z', stats: { dataProcessed: 2048 } })
  t.strictSame(next, {
    ...source,
    dataProcessed: '2.0 KiB',
    stats: { ...source.stats, dataProcessed: 2048, sampledAt: '2026-11-16T12:00:11Z' }
  })
  const { stats: _, ...unknown } = source
  t.strictSame(afterSample(unknown, { ...fromDestination, stats: { dataTotal: 1 } }).stats, {
    dataTotal: 1,
    sampledAt: '2026-11-16T12:00:12Z'
  })
})

t.test('a record that ended a minute before the move began is of another one', async t => {
  const begun = status({ started: '2026-11-16T12:01:05Z' })
  t.equal(isEarlier({ ...record, status: 'done' }, begun), false)
  t.equal(isEarlier({ ...record, status: 'done' }, { ...begun, started: '2026-11-16T12:01:06Z' }), true)
  t.equal(isEarlier({ ...record, status: 'done', updated: null }, { ...begun, started: '2026-11-16T12:01:01Z' }), true)
  t.equal(isEarlier({ ...record, status: 'done', updated: null }, { ...begun, started: '2026-11-16T12:01:00Z' }), false)
  t.equal(isEarlier({ ...record, status: 'strange' }, { ...begun, started: '2026-11-17T00:00:00Z' }), false)
})

t.test('silent after ten minutes, old after thirty days', async t => {
  const at = Date.parse('2026-11-16T11:00:00Z')
  const silent = (more: Partial<Status>, ms: number) => isSilent(status(more), at + ms)
  t.equal(silent({ phase: 'Running' }, 600_000), false)
  t.equal(silent({ phase: 'Running' }, 600_001), true)
  t.equal(silent({ phase: 'PostCopy' }, 600_001), true)
  t.equal(silent({ phase: 'Confirming' }, 600_001), false)
  t.equal(silent({ phase: 'Running', stats: { sampledAt: '2026-11-16T11:00:01Z' } }, 600_001), false, 'since the last sample')
  const gone = lost(status({ phase: 'Running' }), new Date(at))
  t.strictSame(gone, status({ phase: 'Lost', reason: 'Silent', finishedAt: '2026-11-16T11:00:00Z' }))
  t.equal(isOver(gone), true)
  t.equal(isOver(undefined), false)
  const month = 30 * 24 * 3_600_000
  t.equal(isOld(gone, at + month), false)
  t.equal(isOld(gone, at + month + 1), true)
  t.equal(isOld(status(), at + 2 * month), false)
})
