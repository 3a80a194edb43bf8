// What the output of one test file is worth, and what a person needs to know of its failures.
import { Parser, type Result } from 'tap-parser'

export interface Verdict {
  passed: number
  failed: number
  skipped: number
  todo: number
}

export interface Failure {
  /** The tests from the outermost to the failed assertion. */
  name: string
  /** Of the outermost test, to repeat it alone. */
  test?: string
  /** HV-12, EV-3a … as the names of the tests cite them. */
  requirements: string[]
  seed?: string
  at?: string
  /** The difference, or the first lines of the error. */
  detail: string[]
}

const result = /^(not )?ok \d+\b/
const left = /^\s*ok \d+\b.*# (SKIP|TODO)\b/i
const filtered = /# SKIP filter: / // by --grep
const plan = /^1\.\.(\d+)/
const bailOut = /^Bail out!/
const requirement = /\b(?:HV|EV|HA|NA|AG|OV)-\d+[a-z]?\b/g
const seed = /\bseed:?\s+(-?\d+)/i
const detailLines = 12

/** A `t.test` at the top of a file is one test; skipped and unwritten ones count wherever they stand. A file of which nothing was run is a failure. */
export function judge(lines: readonly string[], exitCode: number | null, timedOut = false): Verdict {
  const verdict: Verdict = { passed: 0, failed: 0, skipped: 0, todo: 0 }
  for (const line of lines) {
    if (filtered.test(line)) continue
    const [, directive] = left.exec(line) ?? []
    if (directive !== undefined) verdict[directive.toUpperCase() === 'SKIP' ? 'skipped' : 'todo']++
    const found = result.exec(line)
    if (found === null || (directive !== undefined && !line.startsWith(' '))) continue
    verdict[found[1] === undefined ? 'passed' : 'failed']++
  }
  const isDead = exitCode !== 0 || timedOut // a crash or a signal, with or without a failed test
  const isEmpty = verdict.passed + verdict.failed === 0
  if (isDead || isEmpty || !isWhole(lines)) verdict.failed = Math.max(verdict.failed, 1)
  return verdict
}

/** As many tests ended as the file says it has, and it did not give up. */
function isWhole(lines: readonly string[]): boolean {
  const [, planned] = plan.exec(lines.findLast(line => plan.test(line)) ?? '') ?? []
  return Number(planned) === lines.filter(line => result.test(line)).length && !lines.some(line => bailOut.test(line))
}

/** Only the innermost ones: that the test around a failed one failed too is no news. */
export function failuresOf(lines: readonly string[], exitCode: number | null, endedBy?: string): Failure[] {
  const text = lines.join('\n')
  const failed = Parser.parse(`${text}\n`, { flat: true }).flatMap(event =>
    event[0] === 'assert' && !event[1].ok && event[1].todo === false && event[1].skip === false ? [event[1]] : []
  )
  const found = failed.map(describe)
  if (found.length === 0) found.push(withoutTest(lines, exitCode, endedBy))
  return found
}

function describe({ name, fullname, diag }: Result): Failure {
  const path = fullname || name
  const about = `${path}\n${JSON.stringify(diag ?? {})}`
  const [, number] = seed.exec(about) ?? []
  const place = diag?.at
  const text: string = diag?.diff ?? diag?.stack ?? ''
  return {
    name: path,
    test: path.split(' > ')[0] as string,
    requirements: [...new Set(path.match(requirement))],
    ...(number !== undefined && { seed: number }),
    ...(place?.fileName !== undefined && { at: `${place.fileName}:${place.lineNumber}:${place.columnNumber}` }),
    detail: text.trimEnd().split('\n').slice(0, detailLines)
  }
}

function withoutTest(lines: readonly string[], exitCode: number | null, endedBy?: string): Failure {
  const ran = lines.filter(line => result.test(line))
  const ended = endedBy ?? (exitCode === null ? 'it was killed' : `it ended with exit code ${exitCode}`)
  return {
    name: nameOf(),
    requirements: [],
    detail: lines.filter(line => line.trim() !== '').slice(-detailLines)
  }

  function nameOf(): string {
    if (ran.length === 0) return `no test was run: ${ended}`
    if (endedBy !== undefined || exitCode !== 0) return ended
    if (ran.every(line => left.test(line))) return 'every test is skipped'
    return lines.find(line => bailOut.test(line)) ?? `${ran.length} tests ended, which is not what its plan says`
  }
}
