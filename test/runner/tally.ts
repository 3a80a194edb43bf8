const result = /^(not )?ok \d+\b/

/** What the TAP of one file is worth: a `t.test` at the top of it is one test. */
export function tally(lines: readonly string[], exitCode: number | null): { passed: number; failed: number } {
  let [passed, failed] = [0, 0]
  for (const line of lines) {
    const told = result.exec(line)
    if (told === null) continue
    if (told[1] === undefined) passed++
    else failed++
  }
  // a file that died without a failed test (a crash, a signal) is itself the failure
  return { passed, failed: exitCode === 0 ? failed : Math.max(failed, 1) }
}
