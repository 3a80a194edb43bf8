import t from 'tap'
import { failuresOf, judge } from './verdict.ts'

const tap = `TAP version 14
# Subtest: HV-12 a host
    # Subtest: is disabled
        ok 1 - holds
        not ok 2 - disabled
          ---
          diff: |
            --- expected
            +++ actual
            @@ -1,1 +1,1 @@
            -true
            +false
          at:
            fileName: test/a.test.ts
            lineNumber: 7
            columnNumber: 9
          ...
        1..2
    not ok 1 - is disabled # time=1ms
    ok 2 - later # TODO
    1..2
not ok 1 - HV-12 a host # time=2ms
ok 2 - two # SKIP no reason
# Subtest: three
    not ok 1 - Property failed after 3 tests { seed: -66184902, path: "2:0" }
    1..1
not ok 3 - three # time=2ms
ok 4 - four
1..4`.split('\n')

t.test('each top-level test counts once; skipped and unwritten tests are counted apart', async t => {
  t.strictSame(judge(tap, 1), { passed: 1, failed: 2, skipped: 1, todo: 1 })
  t.strictSame(judge(['ok 1 - holds', '1..1'], 0), { passed: 1, failed: 0, skipped: 0, todo: 0 })
})

t.test('a file that died, hung or has no test is a failure', async t => {
  const failed = { passed: 0, failed: 1, skipped: 0, todo: 0 }
  t.strictSame(judge(['ok 1 - holds', '1..1'], null), { ...failed, passed: 1 }, 'killed')
  t.strictSame(judge(['ok 1 - holds', '1..1'], 0, true), { ...failed, passed: 1 }, 'ended by the runner')
  t.strictSame(judge([], 7), failed, 'crashed before its first line')
  t.strictSame(judge(['TAP version 14', '1..0'], 0), failed, 'no test')
  t.strictSame(judge(['ok 1 - holds', '1..2'], 0), { ...failed, passed: 1 }, 'fewer than planned')
  t.strictSame(judge(['ok 1 - holds'], 0), { ...failed, passed: 1 }, 'cut off before the plan')
  t.strictSame(judge(['ok 1 - holds', 'Bail out! no server', '1..1'], 0), { ...failed, passed: 1 }, 'gave up')
  t.strictSame(judge(['ok 1 - holds # SKIP later', '1..1'], 0), { ...failed, skipped: 1 }, 'every test skipped')
})

t.test('what --grep left out is not skipped', async t => {
  const lines = ['ok 1 - other # SKIP filter: /^one$/', 'ok 2 - one', '1..2']
  t.strictSame(judge(lines, 0), { passed: 1, failed: 0, skipped: 0, todo: 0 })
})

t.test('a failure has its assertion, requirement, place, seed and the test to repeat', async t => {
  t.strictSame(failuresOf(tap, 1), [
    {
      name: 'HV-12 a host > is disabled > disabled',
      test: 'HV-12 a host',
      requirements: ['HV-12'],
      at: 'test/a.test.ts:7:9',
      detail: ['--- expected', '+++ actual', '@@ -1,1 +1,1 @@', '-true', '+false']
    },
    {
      name: 'three > Property failed after 3 tests { seed: -66184902, path: "2:0" }',
      test: 'three',
      requirements: [],
      seed: '-66184902',
      detail: ['']
    }
  ])
})

t.test('a file without a failed test says how it ended', async t => {
  const [hung] = failuresOf(['ok 1 - holds', '# last words'], null, 'it did not end within 360 s')
  t.strictSame(hung, {
    name: 'it did not end within 360 s',
    requirements: [],
    detail: ['ok 1 - holds', '# last words']
  })
  t.equal(failuresOf([], 1)[0]?.name, 'no test was run: it ended with exit code 1')
  t.equal(failuresOf(['ok 1 - holds'], null)[0]?.name, 'it was killed')
  t.equal(failuresOf(['ok 1 - holds # SKIP later'], 0)[0]?.name, 'every test is skipped')
  t.equal(failuresOf(['ok 1 - holds', '1..2'], 0)[0]?.name, '1 tests ended, which is not what its plan says')
  t.equal(failuresOf(['ok 1 - holds', 'Bail out! no server'], 0)[0]?.name, 'Bail out! no server')
})
