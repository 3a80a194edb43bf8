import t from 'tap'
import { report } from './report.ts'
import type { Ran } from './pool.ts'

const ran = (path: string, lines: string[], more: Partial<Ran> = {}, shard?: string): Ran => ({
  job: {
    file: { path, servers: [], limitMs: 0, shards: 1, triesMany: false },
    label: shard === undefined ? path : `${path} (${shard})`,
    ...(shard !== undefined && { shard })
  },
  lines,
  code: 0,
  ms: 1500,
  ...more
})

function printed(all: Ran[], wrong: string[] = [], notes: string[] = []): { text: string; isGood: boolean } {
  const parts: string[] = []
  const out = report(text => parts.push(text), 'npm test --')
  for (const one of all) out.onEnd(one)
  for (const what of wrong) out.wrong(what)
  const isGood = out.close(notes)
  return { text: parts.join(''), isGood }
}

const red = `TAP version 14
# Subtest: EV-7 doesn't move twice
    not ok 1 - one move
      ---
      at:
        fileName: test/b.test.ts
        lineNumber: 3
        columnNumber: 1
      diff: |
        -1
        +2
      ...
    1..1
not ok 1 - EV-7 doesn't move twice
1..1`.split('\n')

t.test('a failed file is told in full where it ended, and last what a person needs to repeat it', async t => {
  const { text, isGood } = printed([
    ran('test/a.test.ts', ['ok 1 - fine', '1..1']),
    ran('test/b.test.ts', red, { code: 1, ms: 2500 }, '2/8')
  ])
  t.equal(isGood, false)
  t.ok(text.includes('not ok 2 - test/b.test.ts (2/8) # time=2500ms'))
  t.equal(
    text.slice(text.indexOf('1 passed, 1 failed')),
    `1 passed, 1 failed

FAILED test/b.test.ts (2/8) after 2.5 s
  EV-7 doesn't move twice > one move
    requirement: EV-7
    at: test/b.test.ts:3:1
    | -1
    | +2
    again: DROVER_SHARD=2/8 npm test -- test/b.test.ts --grep 'EV-7 doesn'\\''t move twice'
`
  )
})

t.test('the ten slowest files are listed, the notes follow, the counts are a line of their own', async t => {
  const files = Array.from({ length: 12 }, (_, at) => ran(`test/f${at}.test.ts`, ['ok 1 - fine', '1..1'], { ms: at * 1000 }))
  const { text, isGood } = printed(files, [], ['Left to others.'])
  t.equal(isGood, true)
  const end = text.slice(text.indexOf('\nThe slowest')).trim().split('\n')
  t.equal(end[0], 'The slowest files, in seconds:')
  t.equal(end[1], '    11.0  test/f11.test.ts')
  t.equal(end[10], '     2.0  test/f2.test.ts')
  t.strictSame(end.slice(-3), ['Left to others.', '', '12 passed, 0 failed'])
})

t.test('skipped and unwritten tests are shown for their file and in the counts', async t => {
  const { text } = printed([
    ran('test/a.test.ts', ['ok 1 - fine', 'ok 2 - other # SKIP no KVM', '    ok 1 - deep # TODO', '1..2'])
  ])
  t.match(text, /^ok 1 - test\/a\.test\.ts \(1 skipped, 1 todo\) # time=1500ms$/m)
  t.match(text, /^1 passed, 0 failed, 1 skipped, 1 todo$/m)
})

t.test('a run in which nothing passed is not good', async t => {
  t.equal(printed([]).isGood, false)
  t.equal(printed([ran('test/a.test.ts', ['ok 1 - other # SKIP no KVM', '1..1'])]).isGood, false)
})

t.test('what is wrong beside the tests fails the run and is named at the end', async t => {
  const { text, isGood } = printed([ran('test/a.test.ts', ['ok 1 - fine', '1..1'])], ['npm run lint found faults, see above'])
  t.equal(isGood, false)
  t.ok(text.endsWith('1 passed, 0 failed\n\nFAILED: npm run lint found faults, see above\n'))
})
