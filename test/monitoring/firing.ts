// Whether an alert fires in a scene, as Prometheus itself evaluates it.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { prepare, testRules } from '../servers/promtool.ts'
import type { Sample } from './state-metrics.ts'

export interface Rule {
  alert: string
  expr: string
  for: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
}

/** What would be scraped at a time, in seconds; `now` is when the alert is looked at. */
export type Scene = (seconds: number, now: number) => Sample[]

export interface Expectation {
  rule: Rule
  fires: readonly Scene[]
  silent: readonly Scene[]
}

const leadS = 3 * 3600 // before the time for which the condition must hold: windows and offsets reach back
const units: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 }

const secondsOf = (duration: string): number => {
  const [, amount = '', unit = ''] = /^(\d+)([smhd])$/.exec(duration) ?? []
  const seconds = Number(amount) * (units[unit] ?? Number.NaN)
  if (Number.isNaN(seconds)) throw new Error(`not a duration: ${duration}`)
  return seconds
}

const seriesName = ({ name, labels }: Sample): string =>
  `${name}{${Object.entries(labels)
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join(',')}}`

/** `3x4` is 3 five times, `_` a scrape without the series. */
function encoded(values: ReadonlyArray<number | undefined>): string {
  const runs: Array<{ value: string; more: number }> = []
  for (const value of values) {
    const text = value === undefined ? '_' : String(value)
    const last = runs.at(-1)
    if (last?.value === text) last.more++
    else runs.push({ value: text, more: 0 })
  }
  // `_x5` is five gaps, `1x5` is one and five more
  return runs.map(({ value, more }) => (more === 0 ? value : `${value}x${value === '_' ? more + 1 : more}`)).join(' ')
}

/** Between two scrapes: 20,000 evaluations take promtool half a minute, and a series is stale after five minutes. */
const stepOf = (rule: Rule): number => (secondsOf(rule.for) > 86_400 ? 240 : 30)

function seriesOf(scene: Scene, now: number, stepS: number): Array<{ series: string; values: string }> {
  const steps = Math.floor(now / stepS) + 1
  const series = new Map<string, Array<number | undefined>>()
  for (let step = 0; step < steps; step++)
    for (const sample of scene(step * stepS, now)) {
      const name = seriesName(sample)
      const values = series.get(name) ?? Array.from({ length: steps }, () => undefined as number | undefined)
      values[step] = sample.value
      series.set(name, values)
    }
  return [...series].map(([name, values]) => ({ series: name, values: encoded(values) }))
}

/** The tests of one rule as a file of promtool's. */
function testFile({ rule, fires, silent }: Expectation): object {
  const now = secondsOf(rule.for) + leadS
  const stepS = stepOf(rule)
  const firing = `ALERTS{alertname="${rule.alert}",alertstate="firing"}`
  const group = (scene: Scene, isFiring: boolean) => ({
    interval: `${stepS}s`,
    input_series: seriesOf(scene, now, stepS),
    promql_expr_test: [
      isFiring
        ? { expr: `count(${firing}) > bool 0`, eval_time: `${now}s`, exp_samples: [{ labels: '{}', value: 1 }] }
        : {
            expr: `absent(${firing})`,
            eval_time: `${now}s`,
            exp_samples: [{ labels: `{alertname="${rule.alert}", alertstate="firing"}`, value: 1 }]
          }
    ]
  })
  return {
    rule_files: ['rule.json'],
    evaluation_interval: `${stepS}s`,
    tests: [...fires.map(scene => group(scene, true)), ...silent.map(scene => group(scene, false))]
  }
}

/** Fails where Prometheus sees it otherwise. JSON is YAML. */
export async function firesAsExpected(t: Test, expectation: Expectation): Promise<void> {
  const prepared = await prepare()
  if (!prepared.ok) throw new Error(prepared.reason)
  const folder = t.testdir()
  await writeFile(join(folder, 'rule.json'), JSON.stringify({ groups: [{ name: 'g', rules: [expectation.rule] }] }))
  await writeFile(join(folder, 'test.json'), JSON.stringify(testFile(expectation)))
  t.equal(await testRules(join(folder, 'test.json')), undefined, `${expectation.rule.alert} as Prometheus evaluates it`)
}
