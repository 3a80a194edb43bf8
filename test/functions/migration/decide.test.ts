// HV-16…HV-18: texts as the listing in use shows them, numbers beside them, one object for each server.
import t from 'tap'
import { afterSample, figuresOf, isEarlier, isOld, withRecord } from '../../../functions/migration/decide.ts'
import { durationText, sizeText } from '../../../functions/migration/figures.ts'
import { Migration } from '../../../shared/schema/migration.ts'
import { validate } from '../../../shared/schema/validate.ts'
import { matchWhole } from '../../assert/match-whole.ts'

const seenAt = new Date('2026-11-16T13:00:00Z')
const recorded = (...[before, record, ref]: RecordArguments) => withRecord(before, record, ref, seenAt)
type RecordArguments = Parameters<typeof withRecord> extends [infer A, infer B, infer C, Date] ? [A, B, C] : never

const sizes: Array<[number, string]> = [
  [0, '0 B'],
  [512, '512 B'],
  [1024, '1.0 KiB'],
  [10_905_190, '10.4 MiB'],
  [64 * 2 ** 30, '64.0 GiB'],
  [2 ** 30 - 1, '1.0 GiB']
]
for (const [bytes, text] of sizes) t.equal(sizeText(bytes), text)
const spans: Array<[number, string]> = [
  [0, '0s'],
  [350, '350ms'],
  [2755, '2.755s'],
  [35_078, '35.078s'],
  [62_500, '1m2.5s'],
  [7_200_000, '2h0m0s']
]
for (const [ms, text] of spans) t.equal(durationText(ms), text)

const stats = {
  type: 'unbounded',
  operation: 'migration_out',
  timeElapsedMs: 2766,
  dataTotal: 4 * 2 ** 30,
  dataProcessed: 398 * 2 ** 20,
  memBps: 588.9 * 2 ** 20,
  memDirtyRate: 1250,
  memIteration: 1,
  autoConvergeThrottle: 20
}
const sample = { server: 's', host: 'hv1', at: '2026-11-16T12:00:10Z', origin: 'hv1', stats }

t.test('a sample as texts and numbers', async t => {
  t.match(figuresOf(stats, sample.at), {
    timeElapsed: '2.766s',
    dataTotal: '4.0 GiB',
    dataProcessed: '398.0 MiB',
    memBps: '588.9 MiB/s',
    memDirtyRate: '1250/s',
    memIteration: 1,
    autoConvergeThrottle: '20%',
    stats: { memDirtyRate: 1250, timeElapsedMs: 2766 }
  })
})

t.test('sample, end on both sides, a late sample, the next run', async t => {
  const running = afterSample(undefined, sample)
  t.match(running, { origin: 'hv1', phase: 'Running', started: '2026-11-16T12:00:07Z' })
  const ended = afterSample(running, {
    ...sample,
    at: '2026-11-16T12:00:12Z',
    result: 'success',
    stats: { ...stats, type: 'completed' }
  })
  t.match(ended, { phase: 'Completed', result: 'success', finishedAt: '2026-11-16T12:00:12Z', type: 'completed' })
  const both = afterSample(ended, {
    server: 's',
    host: 'hv2',
    at: '2026-11-16T12:00:13Z',
    destination: 'hv2',
    result: 'success',
    stats: { type: 'completed', operation: 'migration_in' }
  })
  t.match(
    both,
    { origin: 'hv1', destination: 'hv2', phase: 'Completed', dataTotal: '4.0 GiB' },
    'HV-18: the destination is the real one, and its poor figures do not replace the good ones'
  )
  t.strictSame(afterSample(both, sample), both, 'a sample from before the end is old news')
  const again = afterSample(both, { ...sample, at: '2026-11-16T13:00:00Z', origin: 'hv2' })
  matchWhole(t, again, { origin: 'hv2', phase: 'Running', history: [{ origin: 'hv1', destination: 'hv2', result: 'success' }] })
  t.notOk('destination' in again)
  t.strictSame(
    validate(Migration, {
      apiVersion: 'kvm.cloud.sap/v1alpha1',
      kind: 'Migration',
      metadata: { name: 's' },
      spec: {},
      status: again
    }),
    []
  )
})

t.test('HV-16: a retry soon after a failure is a run of its own, also when its end is the first that is told of it', async t => {
  const end = { ...sample, at: '2026-11-16T12:00:12Z', result: 'failed' }
  const failed = afterSample(afterSample(undefined, sample), end)
  t.match(failed, { phase: 'Failed', finishedAt: '2026-11-16T12:00:12Z' })
  const first = { type: 'unbounded', operation: 'migration_out' } // figures are absent in the first second
  const again = afterSample(failed, { ...sample, at: '2026-11-16T12:00:28Z', stats: first })
  matchWhole(t, again, { phase: 'Running', started: '2026-11-16T12:00:28Z', history: [{ result: 'failed' }] })
  t.notOk('finishedAt' in again)
  const quick = afterSample(failed, { ...end, at: '2026-11-16T12:00:31Z', result: 'success' })
  matchWhole(t, quick, { phase: 'Completed', started: '2026-11-16T12:00:28Z', history: [{ result: 'failed' }] })
  t.match(afterSample(failed, { ...end, at: '2026-11-16T12:00:13Z' }), { phase: 'Failed', started: failed.started }, 'told twice')
  const soon = { ...sample, at: '2026-11-16T12:01:02.800Z', stats: { ...first, timeElapsedMs: 50_000 } } // begun 0.8 s after the end
  matchWhole(t, afterSample(failed, soon), { phase: 'Running', started: '2026-11-16T12:00:12Z', history: [{ result: 'failed' }] })
  matchWhole(t, afterSample(failed, { ...soon, result: 'success' }), { phase: 'Completed', history: [{ result: 'failed' }] })
})

t.test('a record that ended long before is of another move', async t => {
  const running = afterSample(undefined, sample)
  const record = { id: 7, uuid: 'u', server: 's', type: 'live-migration', source: 'hv1', target: 'hv3' }
  const at = { created: '2026-11-16T11:00:00.000000', updated: '2026-11-16T11:00:05.000000' }
  t.equal(isEarlier({ ...record, ...at, status: 'completed' }, running), true)
  t.equal(isEarlier({ ...record, ...at, status: 'running' }, running), false)
  t.equal(isEarlier({ ...record, ...at, updated: '2026-11-16T12:00:11+00:00', status: 'completed' }, running), false)
})

t.test('what only Nova knows', async t => {
  const record = {
    id: 7,
    uuid: 'u',
    server: 's',
    type: 'migration',
    status: 'finished',
    source: 'hv1',
    target: 'hv3',
    created: '2026-11-16T12:00:00.000000',
    updated: '2026-11-16T12:00:05.000000'
  }
  const cold = recorded(undefined, record, { name: 'e' })
  t.match(cold, { origin: 'hv1', destination: 'hv3', novaMigrationId: '7', phase: 'Confirming', evictionRef: { name: 'e' } })
  const done = recorded(cold, { ...record, status: 'confirmed' }, { name: 'e' })
  t.match(done, { phase: 'Completed', result: 'confirmed', finishedAt: '2026-11-16T12:00:05Z' })
  t.equal(isOld(done, Date.parse('2026-12-15T00:00:00Z')), false)
  t.equal(isOld(done, Date.parse('2026-12-17T00:00:00Z')), true, 'HV-16: thirty days')
})
