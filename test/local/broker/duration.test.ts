import t from 'tap'
import { rfc3339 } from '../../../shared/local/broker/clock.ts'
import { parseDuration } from '../../../shared/local/broker/duration.ts'

const cases: Array<[text: string, ms: number | undefined]> = [
  ['PT0.2S', 200],
  ['PT1S', 1000],
  ['PT0,5S', 500],
  ['PT1M30S', 90_000],
  ['PT1H', 3_600_000],
  ['P1D', 86_400_000],
  ['P1DT1S', 86_401_000],
  ['P2W', 1_209_600_000],
  ['P1Y', 31_556_952_000],
  ['P1M', 2_629_746_000],
  ['PT0S', 0],
  ['-PT1S', -1000],
  ['+PT1S', 1000],
  ...['', 'P', 'PT', 'P1', 'PT1', '1S', '2s', 'PT1X', 'xPT1S', 'PT1Sx', 'PT1S1M', 'P1S', 'PT-1S', 'pt1s', 'P1DT'].map(
    (text): [string, undefined] => [text, undefined]
  )
]
void t.test('ISO 8601 durations', async t => {
  for (const [text, ms] of cases) t.equal(parseDuration(text), ms, text || 'empty')
})

void t.test('RFC 3339 with nanoseconds, zeros cut', async t => {
  const at = Date.UTC(2026, 10, 16, 4, 56, 11)
  t.equal(rfc3339(at), '2026-11-16T04:56:11Z')
  t.equal(rfc3339(at + 250), '2026-11-16T04:56:11.25Z')
  t.match(rfc3339(at + 691.365), /^2026-11-16T04:56:11\.69136\d+Z$/)
})
