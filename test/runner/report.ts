// What a run prints: a line for each file as it ends, then the slowest, what was left out, the counts, and the failures last.
import type { Ran } from './pool.ts'
import { failuresOf, judge, type Failure, type Verdict } from './verdict.ts'

interface Failed {
  ran: Ran
  failures: Failure[]
}

export interface Report {
  onEnd: (ran: Ran) => void
  /** What is wrong beside the tests: a check, a suite that was left out. */
  wrong: (what: string) => void
  times: () => Map<string, number>
  /** Prints the end of the run. True: all is well. */
  close: (notes: readonly string[]) => boolean
}

const slowestShown = 10
const failuresShown = 5 // of one file: the first ones are mostly the cause of the others

const seconds = (ms: number): string => (ms / 1000).toFixed(1)
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

export function report(write: (text: string) => void, command: string): Report {
  const all: Verdict = { passed: 0, failed: 0, skipped: 0, todo: 0 }
  const failed: Failed[] = []
  const wrong: string[] = []
  const times = new Map<string, number>()
  let ended = 0

  return {
    onEnd(ran) {
      const { job, lines, code, ms, endedBy } = ran
      const verdict = judge(lines, code, endedBy !== undefined)
      for (const kind of Object.keys(all) as Array<keyof Verdict>) all[kind] += verdict[kind]
      times.set(job.label, ms)
      const isBad = verdict.failed > 0
      if (isBad) {
        failed.push({ ran, failures: failuresOf(lines, code, endedBy) })
        write(`# Subtest: ${job.label}\n${lines.map(line => `    ${line}\n`).join('')}`)
      }
      const left = [verdict.skipped > 0 && `${verdict.skipped} skipped`, verdict.todo > 0 && `${verdict.todo} todo`].filter(
        Boolean
      )
      const note = left.length > 0 ? ` (${left.join(', ')})` : ''
      write(`${isBad ? 'not ok' : 'ok'} ${++ended} - ${job.label}${note} # time=${ms}ms\n`)
    },
    wrong: what => void wrong.push(what),
    times: () => times,
    close(notes) {
      const slowest = [...times].toSorted(([, a], [, b]) => b - a).slice(0, slowestShown)
      if (slowest.length > 1) {
        write('\nThe slowest files, in seconds:\n')
        for (const [label, ms] of slowest) write(`${seconds(ms).padStart(8)}  ${label}\n`)
      }
      for (const note of notes) write(`\n${note}\n`)
      const more = [all.skipped > 0 && `${all.skipped} skipped`, all.todo > 0 && `${all.todo} todo`].filter(Boolean)
      write(`\n${[`${all.passed} passed, ${all.failed} failed`, ...more].join(', ')}\n`)
      for (const each of failed) write(describe(each, command))
      for (const what of wrong) write(`\nFAILED: ${what}\n`)
      return all.passed > 0 && all.failed === 0 && wrong.length === 0
    }
  }
}

function describe({ ran: { job, ms }, failures }: Failed, command: string): string {
  const lines = [``, `FAILED ${job.label} after ${seconds(ms)} s`]
  for (const { name, test, requirements, seed, at, detail } of failures.slice(0, failuresShown)) {
    lines.push(`  ${name}`)
    if (requirements.length > 0) lines.push(`    requirement: ${requirements.join(', ')}`)
    if (seed !== undefined) lines.push(`    seed: ${seed}`)
    if (at !== undefined) lines.push(`    at: ${at}`)
    lines.push(...detail.map(line => `    | ${line}`))
    const shard = job.shard === undefined ? '' : `DROVER_SHARD=${job.shard} `
    const only = test === undefined ? '' : ` --grep ${quoted(test)}`
    lines.push(`    again: ${shard}${command} ${job.file.path}${only}`)
  }
  if (failures.length > failuresShown) lines.push(`  and ${failures.length - failuresShown} more failures, above`)
  return `${lines.join('\n')}\n`
}
