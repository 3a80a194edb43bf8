import { join } from 'node:path'
import type { Baseline } from './baseline.ts'
import type { Candidate } from './candidates.ts'
import { eachOf } from './each.ts'
import type { Mutant } from './mutants.ts'
import type { Outcome } from './report.ts'
import { Worker } from './worker-pool.ts'

export interface Attempt {
  root: string
  source: string
  mutants: readonly Mutant[]
  /** In the order in which they are tried. */
  tests: readonly Candidate[]
  baselineOf: (test: string) => Promise<Baseline>
  jobs: number
  onOutcome: (outcome: Outcome) => void
  /** A test file that fails on the source as it is, when many mutants share its process: what it killed is not counted. */
  onDoubt: (test: string) => void
}

/** Tries the mutants of one file: each test file in turn on those that are left and that it reaches. */
export async function attempt({ root, source, mutants, tests, baselineOf, jobs, onOutcome, onDoubt }: Attempt): Promise<void> {
  let left = [...mutants]
  const reached = new Set<Mutant>()
  for (const { test, between } of tests) {
    if (left.length === 0) break
    const { seconds, reaches } = await baselineOf(test)
    const due = left.filter(({ start }) => reaches(source, start))
    if (due.length === 0) continue
    for (const mutant of due) reached.add(mutant)
    const task = { test: join(root, test), source: join(root, source), between: between.map(path => join(root, path)) }
    const killed: Outcome[] = []
    const share = Math.ceil(due.length / jobs)
    const shares = Array.from({ length: Math.ceil(due.length / share) }, (_, index) =>
      due.slice(index * share, (index + 1) * share)
    )
    await eachOf(shares, jobs, async share => {
      const worker = new Worker(root, task, 3 + 4 * seconds)
      try {
        const found = await tryAll(worker, share, test)
        if (found === undefined) onDoubt(test)
        else killed.push(...found)
      } finally {
        worker.end()
      }
    })
    for (const outcome of killed) onOutcome(outcome)
    const dead = new Set(killed.map(({ mutant }) => mutant))
    left = left.filter(mutant => !dead.has(mutant))
  }
  for (const mutant of left) onOutcome({ mutant, result: reached.has(mutant) ? 'survived' : 'unreached' })
}

/**
 * Those that the test file notices. Before and after them it must pass on the source as it is: a mutant that leaves something behind in
 * the process would kill those that come after it. Undefined when it does not.
 */
async function tryAll(worker: Worker, mutants: readonly Mutant[], test: string): Promise<Outcome[] | undefined> {
  if ((await worker.try(null)) !== 'passed') return undefined
  const killed: Outcome[] = []
  for (const mutant of mutants) {
    const result = await worker.try(mutant)
    if (result !== 'passed') killed.push({ mutant, result: result === 'failed' ? 'killed' : result, by: test })
  }
  return (await worker.try(null)) === 'passed' ? killed : undefined
}
