import t from 'tap'
import { atLeast, atMost, rowOf, type Bench, type Figures, type Report } from './figures.ts'
import { isBusy } from './machine-load.ts'
import { megabytesAsMib, mib } from './processes.ts'
import { exitCodeOf, runBench, summaryOf, tableOf } from './run.ts'
import { alternate, median, percentile } from './statistics.ts'

const benchOf =
  (figures: Figures, run: (report: Report) => Promise<void> | void): (() => Promise<Bench>) =>
  async () => ({ figures, run: async report => run(report) })
const speed: Figures = { 'x.speed': { unit: 'events/s', goal: atLeast(100) } }

t.test('a goal that is met is exit code 0, with a figure of one value', async t => {
  const rows = await runBench(
    'x',
    benchOf(speed, report => report('x.speed', [90, 130, 110]))
  )
  t.strictSame(rows, [
    {
      name: 'x.speed',
      value: 110,
      unit: 'events/s',
      goal: '>= 100',
      verdict: 'met',
      runs: 3,
      median: 110,
      spread: [90, 130],
      of: 'median',
      ours: null,
      peer: null,
      unitOfSides: null,
      note: ''
    }
  ])
  t.equal(exitCodeOf(rows), 0)
})

t.test('a missed goal is exit code 1 and says so', async t => {
  const rows = await runBench(
    'x',
    benchOf(speed, report => report('x.speed', 99.9))
  )
  t.equal(rows[0]?.verdict, 'missed')
  t.equal(exitCodeOf(rows), 1)
  t.match(tableOf(rows), /^MISSED +x\.speed +99\.9 events\/s +>= 100/m)
  t.match(tableOf(rows, { busy: true }), /^MISSED, busy +x\.speed/m, 'a figure of a busy machine is marked')
  t.equal(summaryOf(rows), '0 of 1 goals met, 1 missed; 0 of 1 figures not taken')
})

t.test('a figure without a goal is exit code 0, but not when it is missing', async t => {
  const plain: Figures = { 'x.size': { unit: 'MiB' } }
  t.equal(
    exitCodeOf(
      await runBench(
        'x',
        benchOf(plain, report => report('x.size', 3))
      )
    ),
    0
  )
  t.equal(
    exitCodeOf(
      await runBench(
        'x',
        benchOf(plain, () => {})
      )
    ),
    1
  )
})

const missing: Array<[name: string, run: (report: Report) => void, why: RegExp]> = [
  ['was never reported', () => {}, /did not report it/],
  [
    'was not reached',
    () => {
      throw new Error('no peer here\n at x')
    },
    /^no peer here$/
  ],
  ['is no number', report => report('x.speed', [1, Number.NaN]), /no number: 1, NaN/],
  ['has no run', report => report('x.speed', []), /no run/]
]
for (const [name, run, why] of missing) {
  t.test(`a figure that ${name} is in the table and gives exit code 1`, async t => {
    const error = console.error
    console.error = () => {}
    const rows = await runBench('x', benchOf(speed, run)).finally(() => (console.error = error))
    t.strictSame(
      rows.map(({ name, value, verdict, runs }) => ({ name, value, verdict, runs })),
      [{ name: 'x.speed', value: null, verdict: 'not taken', runs: 0 }]
    )
    t.match(rows[0]?.note, why)
    t.match(tableOf(rows), /^NOT TAKEN +x\.speed +–/m)
    t.equal(exitCodeOf(rows), 1)
  })
}

t.test('what was measured before an error stays, and an error after the last figure is not lost', async t => {
  const error = console.error
  console.error = () => {}
  t.teardown(() => (console.error = error))
  const rows = await runBench(
    'x',
    benchOf(speed, report => {
      report('x.speed', 200)
      throw new Error('while closing')
    })
  )
  t.strictSame(
    rows.map(({ name, verdict, note }) => [name, verdict, note]),
    [
      ['x.speed', 'met', ''],
      ['x.failed', 'not taken', 'while closing']
    ]
  )
  const unloadable = await runBench('y', () => Promise.reject(new Error('cannot be imported')))
  t.strictSame(
    unloadable.map(({ name, verdict }) => [name, verdict]),
    [['y.failed', 'not taken']]
  )
  t.equal(exitCodeOf(rows) + exitCodeOf(unloadable), 2)
})

t.test('on a busy machine nothing is run, and every figure is said to be missing', async t => {
  const rows = await runBench(
    'x',
    benchOf(speed, () => void t.fail('it was run')),
    { refused: 'busy' }
  )
  t.strictSame(
    rows.map(({ verdict, note }) => [verdict, note]),
    [['not taken', 'busy']]
  )
  t.equal(exitCodeOf(rows), 1)
  t.ok(isBusy({ used: 0.4, cores: 2 }))
  t.notOk(isBusy({ used: 0.2, cores: 2 }))
})

t.test('a figure that was not declared, or was reported twice, is a fault of the bench', async t => {
  const error = console.error
  console.error = () => {}
  t.teardown(() => (console.error = error))
  for (const run of [
    (report: Report) => report('x.other', 1),
    (report: Report) => {
      report('x.speed', 200)
      report('x.speed', 300)
    }
  ])
    t.equal(exitCodeOf(await runBench('x', benchOf(speed, run))), 1)
})

t.test('a ratio is the median of the ratios of the rounds, not the ratio of medians', async t => {
  const declared = { unit: 'calls/s', against: 'C', goal: atMost(1.1) }
  // a slow round met both: the ratio of medians would be 1.0
  const row = rowOf('x', declared, [20, 200, 100], { peer: [10, 100, 200] })
  t.strictSame([row.value, row.unit, row.verdict, row.runs, row.spread], [2, '×', 'missed', 3, [0.5, 2]])
  t.strictSame(row.ours, { median: 100, min: 20, max: 200 })
  t.strictSame(row.peer, { name: 'C', median: 100, min: 10, max: 200 })
  t.match(tableOf([row]), /100 to 100 calls\/s, against C/)
  t.throws(() => rowOf('x', declared, [1, 2], { peer: [1] }), /2 runs of ours and 1 of the peer/)
  t.throws(() => rowOf('x', declared, [1, 2]), /a peer/)
  t.equal(rowOf('x', declared, [1], { peer: [0] }).verdict, 'not taken')
})

t.test('the value of a figure may be another than the median, which is shown beside it', async t => {
  const samples = Array.from({ length: 200 }, (_, n) => n + 1)
  const row = rowOf('x', { unit: 'ms', of: 'p99', goal: atMost(150), note: 'raised' }, samples, { note: 'by id' })
  t.strictSame([row.value, row.median, row.spread, row.verdict, row.note], [199, 100.5, [1, 200], 'missed', 'by id; raised'])
  t.match(tableOf([row]), /p99 of 200 +100\.5, 1 to 200 +by id; raised/)
  t.equal(rowOf('x', { unit: 'ms', of: 'max' }, samples).value, 200)
  t.equal(rowOf('x', { unit: 'ms', of: 'min' }, samples).value, 1)
})

t.test('rounding does not decide whether a goal is met', async t => {
  t.equal(rowOf('x', { unit: 'x', goal: atMost(1) }, [1.000_01]).verdict, 'missed')
})

t.test('the sides alternate: one of each in every round, in the order given', async t => {
  const order: string[] = []
  const way = (name: string) => async (round: number) => {
    order.push(`${name}${round}`)
    return round
  }
  const runs = await alternate(3, { ours: way('a'), peer: way('b') })
  t.strictSame(order, ['a0', 'b0', 'a1', 'b1', 'a2', 'b2'])
  t.strictSame(runs, { ours: [0, 1, 2], peer: [0, 1, 2] })
})

t.test('--rounds takes the place of what the bench does by itself', async t => {
  const seen: number[] = []
  const load = benchOf({}, report => void seen.push(report.rounds(15)))
  await runBench('x', load)
  await runBench('x', load, { rounds: 2 })
  t.strictSame(seen, [15, 2])
})

t.test('median and percentile', async t => {
  t.equal(median([3, 1, 2]), 2)
  t.equal(median([4, 1, 3, 2]), 2.5)
  t.ok(Number.isNaN(median([])))
  const hundred = Array.from({ length: 100 }, (_, n) => 100 - n)
  t.strictSame(
    [50, 99, 100].map(p => percentile(hundred, p)),
    [51, 100, 100]
  )
  t.equal(percentile([7], 99), 7)
  t.equal(
    percentile(
      Array.from({ length: 60 }, (_, n) => n),
      99
    ),
    59,
    'of sixty the worst'
  )
})

t.test('memory is in MiB, of 2^20 bytes', async t => {
  t.equal(mib(2 ** 20), 1)
  t.equal(megabytesAsMib(80).toFixed(2), '76.29')
})
