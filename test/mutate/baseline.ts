// A test file without any mutant: whether it passes, how long it computes and which code it reaches.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { testRun } from './test-process.ts'

export interface Baseline {
  test: string
  result: 'passed' | 'failed' | 'endless'
  /** Of processor time. */
  seconds: number
  /** Whether the code at this place ran. */
  reaches: (file: string, offset: number) => boolean
}

interface Range {
  startOffset: number
  endOffset: number
  count: number
}

interface Report {
  result: Array<{ url: string; functions: Array<{ ranges: Range[] }> }>
}

/** Longer ones play whole drains or fleets: too much for each of some hundred mutants. */
const mostSeconds = 15

export async function baseline(root: string, test: string): Promise<Baseline> {
  const folder = await mkdtemp(join(tmpdir(), 'drover-mutate-'))
  try {
    const timeFile = join(folder, 'processor-time')
    const coverage = join(folder, 'coverage')
    const result = await testRun({
      root,
      file: test,
      preload: join(import.meta.dirname, 'processor-time.ts'),
      seconds: mostSeconds,
      // without the compile cache: V8 counts less exactly in what comes from there
      env: { NODE_V8_COVERAGE: coverage, NODE_DISABLE_COMPILE_CACHE: '1', DROVER_PROCESSOR_TIME: timeFile }
    })
    const seconds = result === 'passed' ? Number(await readFile(timeFile, 'utf8')) : mostSeconds
    const ranges = result === 'passed' ? await rangesOf(root, coverage) : new Map<string, Range[]>()
    return { test, result, seconds, reaches: (file, offset) => ran(ranges.get(file) ?? [], offset) }
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Node strips types in place, so that the offsets of V8 are those of the source. */
async function rangesOf(root: string, folder: string): Promise<Map<string, Range[]>> {
  const ranges = new Map<string, Range[]>()
  const base = pathToFileURL(`${root}/`).href
  for (const name of await readdir(folder)) {
    const { result } = JSON.parse(await readFile(join(folder, name), 'utf8')) as Report
    for (const { url, functions } of result) {
      if (!url.startsWith(base)) continue
      const file = url.slice(base.length)
      ranges.set(file, [...(ranges.get(file) ?? []), ...functions.flatMap(({ ranges }) => ranges)])
    }
  }
  return ranges
}

/** The smallest range around a place says whether it ran. */
function ran(ranges: readonly Range[], offset: number): boolean {
  const around = ranges.filter(({ startOffset, endOffset }) => startOffset <= offset && offset < endOffset)
  const smallest = Math.min(...around.map(({ startOffset, endOffset }) => endOffset - startOffset))
  return around.some(({ startOffset, endOffset, count }) => endOffset - startOffset === smallest && count > 0)
}
