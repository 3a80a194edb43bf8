export interface Tally {
  passed: number
  failed: number
  /** What a line of TAP is worth to the reader: a line for each file, and all that a failed file said. */
  read(line: string): string[]
}

const result = /^( {4})?(not )?ok \d+ - (.*?)(?: # (SKIP|TODO|time=).*)?(?: \{)?$/

/** Counts the tests of all files (a `t.test` at the top of a file is one) from the TAP of the whole run. */
export function tally(): Tally {
  let failedInFile = 0
  let said: string[] = []
  return {
    passed: 0,
    failed: 0,
    read(line) {
      const [, inner, not, name] = result.exec(line) ?? []
      said.push(line)
      if (name === undefined) return []
      if (inner !== undefined) {
        if (not === undefined) this.passed++
        else failedInFile++
        return []
      }
      // a file that died without a failed test (a time-out, a crash) is itself the failure
      this.failed += not === undefined ? 0 : Math.max(failedInFile, 1)
      const shown = not === undefined ? [line] : said
      failedInFile = 0
      said = []
      return shown
    }
  }
}
