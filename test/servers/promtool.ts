// Prometheus' own rule tester, from Debian's archive.
import { execFile } from 'node:child_process'
import { install } from './install.ts'
import type { Prepared } from './say.ts'

const program = '/usr/bin/promtool'

export const prepare = (): Promise<Prepared> => install(['prometheus'], [program])

/** What it says of a test file; undefined when every expectation holds. */
export const testRules = (file: string): Promise<string | undefined> =>
  new Promise((resolve, reject) => {
    execFile(program, ['test', 'rules', file], (err, stdout, stderr) => {
      if (err === null) resolve(undefined)
      else if (typeof err.code === 'number') resolve(stdout + stderr)
      else reject(err)
    })
  })
