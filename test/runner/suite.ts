// The test files: what each needs, how long it may take, and in how many parts it runs.
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { serversOf } from './needs.ts'

export interface TestFile {
  path: string
  /** The real servers that it imports, in the order in which they must be ready. */
  servers: string[]
  /** The longest time limit that it gives itself, 0 when it has none of its own. */
  limitMs: number
  /** `// shards: 8` in its first lines: it runs as eight processes, each with DROVER_SHARD=1/8 … 8/8. */
  shards: number
  /** It imports many.ts: it tries a property as often as the tier says. */
  triesMany: boolean
}

/** One process. */
export interface Job {
  file: TestFile
  /** `2/8`, when the file runs in parts. */
  shard?: string
  /** What people call it: the path, with the shard. */
  label: string
}

const limit = /\bt\.setTimeout\(([\d_]+)\)/g
const shards = /^\/\/ shards: (\d+)\b/m
const headLines = 5
const many = /^import .*\/many\.ts'$/m

export async function findTests(root: string, patterns: readonly string[]): Promise<TestFile[]> {
  const paths = await Array.fromAsync(glob([...patterns], { cwd: root }))
  return Promise.all([...new Set(paths)].map(path => describe(root, path)))
}

/** Those of the patterns that no file matches: mistyped, or renamed since. */
export async function unmatched(root: string, patterns: readonly string[]): Promise<string[]> {
  const found = await Promise.all(patterns.map(pattern => Array.fromAsync(glob(pattern, { cwd: root }))))
  return patterns.filter((_, at) => found[at]?.length === 0)
}

async function describe(root: string, path: string): Promise<TestFile> {
  const text = await readFile(join(root, path), 'utf8')
  const limits = [...text.matchAll(limit)].map(([, digits = '']) => Number(digits.replaceAll('_', '')))
  const [, parts = '1'] = shards.exec(text.split('\n', headLines).join('\n')) ?? []
  const servers = path.endsWith('.real.test.ts') ? await serversOf(join(root, path), join(root, 'test/servers')) : []
  return { path, servers, limitMs: Math.max(0, ...limits), shards: Number(parts), triesMany: many.test(text) }
}

/**
 * The longest first, by the last run where that is known, so that a run ends with many short files and not with one long.
 * With `only` just this shard of the files that run in parts.
 */
export function jobsOf(files: readonly TestFile[], lastMs: ReadonlyMap<string, number>, only?: string): Job[] {
  const jobs = files.flatMap(file =>
    file.shards === 1
      ? [{ file, label: file.path }]
      : Array.from({ length: file.shards }, (_, at) => `${at + 1}/${file.shards}`)
          .filter(shard => only === undefined || shard === only)
          .map(shard => ({ file, shard, label: `${file.path} (${shard})` }))
  )
  const guess = ({ file }: Job): number => file.limitMs / 10 + (file.servers.length > 0 ? 5000 : 0)
  const weight = (job: Job): number => lastMs.get(job.label) ?? guess(job)
  return jobs.toSorted((a, b) => weight(b) - weight(a) || a.label.localeCompare(b.label))
}
