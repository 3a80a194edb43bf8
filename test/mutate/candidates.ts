import { glob } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { isSlow } from '../runner/slow.ts'
import { dependentsOf, ownPackages, reachOf } from './import-graph.ts'

export interface Candidate {
  test: string
  /** Stands in the folder of tests that mirrors the source's own. */
  near: boolean
  /** How many imports lie between. */
  distance: number
  /** The source file, what depends on it, and the test's own helpers: loaded again for each mutant. */
  between: string[]
}

/** Beyond, a file is only part of something large. */
const farthest = 2

/** The folder in which the tests of a source file are expected: functions/evict/plan.ts has them in test/functions/evict. */
const mirrors = (file: string): string[] => {
  const folder = dirname(file).replace(/\/src\b.*/, '')
  return [`test/${folder}`, `test/${folder.replace(/^shared\//, '')}`]
}

/** For each source file the test files that import it: those of its own folder, and others that are near; the nearest first. */
export async function candidatesOf(root: string, sources: readonly string[]): Promise<Map<string, Candidate[]>> {
  const packages = await ownPackages(root)
  const tests = (await Array.fromAsync(glob('test/**/*.test.ts', { cwd: root }))).filter(test => !isSlow(test)).toSorted()
  const found = new Map<string, Candidate[]>(sources.map(source => [source, []]))
  for (const test of tests) {
    const reach = await reachOf(root, test, packages)
    for (const source of sources) {
      const distance = reach.distance.get(source)
      const near = mirrors(source).some(folder => test.startsWith(`${folder}/`))
      if (distance === undefined || !(near || distance <= farthest)) continue
      const helpers = [...reach.distance.keys()].filter(file => file.startsWith('test/'))
      found.get(source)?.push({ test, near, distance, between: [...dependentsOf(source, reach).union(new Set(helpers))] })
    }
  }
  for (const [source, of] of found) {
    // a test that is named after the source says more, and sooner, than one that feeds it at random
    const named = ({ test }: Candidate): number => Number(basename(test).startsWith(basename(source, '.ts')))
    of.sort((a, b) => Number(b.near) - Number(a.near) || a.distance - b.distance || named(b) - named(a))
  }
  return found
}
