// One run: prepares the servers, runs the files and the checks side by side, and reports.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { killGroup, runJobs, startLeash } from './pool.ts'
import { report } from './report.ts'
import { fleet, isClusterFile, load, type Known } from './servers.ts'
import { findTests, jobsOf, unmatched, type TestFile } from './suite.ts'
import { keepTimes, readTimes } from './times.ts'

export type Tier = 'test' | 'cluster'

export interface RunOptions {
  root: string
  tier: Tier
  /** Files or globs; empty: all of the tier. What is named is run, whatever its tier. */
  patterns: readonly string[]
  /** Names of npm scripts that run beside the tests. */
  checks: readonly string[]
  /** Only the top-level tests of this name. */
  grep?: string | undefined
  /** A server that this machine cannot provide does not fail the run. */
  allowMissing: boolean
  /** One shard of those files that run in parts. */
  shard?: string | undefined
  write: (text: string) => void
}

/** What the rest of the tests is, and how long it takes: the last words of `npm test`. */
const clusterTakes = 'about 20 minutes on two cores, 45 the first time, when Kubernetes, KubeVirt and Knative are compiled'

const checkMinutes = 15

/**
 * Two kinds of files belong to both: one that needs just some Kubernetes API runs on the embedded one, and again on the real one; and one that
 * tries a property many times does so a quarter as often, and again as often as it says.
 */
const wants = (file: TestFile, known: Known, tier: Tier): boolean => {
  const isCluster = isClusterFile(file, known)
  return tier === 'test' ? !isCluster : isCluster || file.servers.includes('kubernetes') || file.triesMany
}

export async function run({ root, tier, patterns, checks, grep, allowMissing, shard, write }: RunOptions): Promise<boolean> {
  const command = tier === 'test' ? 'npm test --' : 'npm run test:cluster --'
  const out = report(write, command)
  const found = await findTests(root, patterns.length > 0 ? patterns : ['test/**/*.test.ts'])
  const known = await load(found, join(root, 'test/servers'))
  const files = patterns.length > 0 ? found : found.filter(file => wants(file, known, tier))
  for (const pattern of await unmatched(root, patterns)) out.wrong(`no test file matches ${pattern}`)
  for (const { path, shards } of files)
    if (shard !== undefined && shards > 1 && !shard.endsWith(`/${shards}`))
      out.wrong(`${path} has ${shards} shards, not ${shard}`)

  const last = files.filter(({ servers }) => servers.some(name => known.get(name)?.last))
  const groups = [
    { files: files.filter(file => !last.includes(file)), least: 2, most: 8 }, // the real servers make their files wait more than compute
    { files: last, least: 1, most: 1 }
  ]
  const servers = fleet(new Set(groups.flatMap(group => group.files.flatMap(file => file.servers))), known)
  const lastMs = await readTimes()
  const env = (): Record<string, string> => ({
    NODE_OPTIONS: '--conditions=drover',
    DROVER_TRIES: tier === 'test' && patterns.length === 0 ? '0.25' : '1', // whatever the shell says
    NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/v8'),
    ...(grep !== undefined && { TAP_GREP: `/^${RegExp.escape(grep)}$/` }),
    ...servers.env()
  })

  async function runAll(): Promise<void> {
    for (const { files: some, ...width } of groups) {
      await runJobs({
        root,
        jobs: jobsOf(some, lastMs, shard),
        ready: ({ file }) => servers.ready(file),
        places: ({ file }) => servers.places(file),
        env,
        ...width,
        onEnd: out.onEnd
      })
    }
  }

  const checked = checks.map(async script => {
    const output = await failureOf(root, script)
    if (output === undefined) return
    write(output)
    out.wrong(`npm run ${script} found faults, see above`)
  })
  try {
    await Promise.all([servers.prepare(), runAll(), ...checked])
  } finally {
    for (const reason of await servers.stop()) out.wrong(reason)
  }
  if (patterns.length === 0) await keepTimes(out.times())

  for (const { path, servers: names } of files) {
    const missing = names.flatMap(name => servers.missing.get(name) ?? [])
    if (missing.length === 0) continue
    const line = `${path} was left out: ${[...new Set(missing.map(({ reason }) => reason))].join('; ')}`
    if (missing.some(({ isBroken }) => isBroken)) out.wrong(line)
    else if (allowMissing) write(`LEFT OUT ${line}\n`)
    else out.wrong(`${line} (--allow-missing accepts that)`)
  }
  return out.close(patterns.length === 0 && tier === 'test' ? [leftToCluster(found, known)] : [])
}

function leftToCluster(files: readonly TestFile[], known: Known): string {
  const cluster = files.filter(file => wants(file, known, 'cluster'))
  const others = cluster.filter(file => isClusterFile(file, known)).length
  const tries = cluster.filter(({ triesMany }) => triesMany).length
  return (
    `Left to \`npm run test:cluster\` (${clusterTakes}):\n` +
    `${others} files that need the real Kubernetes, KubeVirt, Knative or RabbitMQ, and of this run ${cluster.length - others - tries} files ` +
    `once more on the real Kubernetes API server, and ${tries} with four times as many random cases.`
  )
}

/** What a failed script printed, in one piece; undefined when all is well. */
async function failureOf(root: string, script: string): Promise<string | undefined> {
  const leash = startLeash()
  const child = spawn('npm', ['run', '--silent', script], { cwd: root, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  leash.stdin?.write(`+${child.pid}\n`)
  let late = ''
  const limit = setTimeout(() => {
    late = `it did not end within ${checkMinutes} minutes\n`
    killGroup(child)
  }, checkMinutes * 60_000)
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  clearTimeout(limit)
  leash.stdin?.end()
  return code === 0 ? undefined : output + errors + late
}
