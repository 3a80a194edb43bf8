// `npm run test:stress -- FILE… --times N --load L`: runs files again and again beside busy loops, and reports every failure.
import { spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runJobs, startLeash, type Ran } from './runner/pool.ts'
import { fleet, load } from './runner/servers.ts'
import { findTests, jobsOf, unmatched } from './runner/suite.ts'
import { failuresOf, judge } from './runner/verdict.ts'

const help = `npm run test:stress -- FILE… [--times N] [--load L] [--width W]

  FILE        a path or glob
  --times N   how often each file runs (3)
  --load L    how many busy loops run beside it (3)
  --width W   how many files run at once (1)
  --kubernetes embedded|real   the API server of files that take either (embedded)
`
const root = join(import.meta.dirname, '..')
const logs = join(root, 'node_modules/.cache/stress')
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    times: { type: 'string', default: '3' },
    load: { type: 'string', default: '3' },
    width: { type: 'string', default: '1' },
    kubernetes: { type: 'string', default: 'embedded' },
    help: { type: 'boolean', short: 'h', default: false }
  }
})
const [times, loops, width] = [values.times, values.load, values.width].map(Number) as [number, number, number]
const isSane = [times, loops, width].every(Number.isInteger) && times > 0 && loops >= 0 && width > 0
if (values.help || positionals.length === 0 || !isSane || !['embedded', 'real'].includes(values.kubernetes)) {
  process.stdout.write(help)
  process.exit(values.help ? 0 : 2)
}
process.env['DROVER_KUBERNETES_KIND'] = values.kubernetes

const files = await findTests(root, positionals)
const absent = await unmatched(root, positionals)
if (absent.length > 0) {
  process.stderr.write(`no test file matches ${absent.join(' ')}\n`)
  process.exit(2)
}
const known = await load(files, join(root, 'test/servers'))
const servers = fleet(new Set(files.flatMap(file => file.servers)), known)
const rows = new Map<string, { failed: number; ms: number[] }>()
const faults: string[] = []

/** A name for the log of one run, from the label of its file. */
const logName = (label: string, run: number): string => `${label.replaceAll(/[^\w.-]+/g, '_')}-${run}.log`

async function record({ job, lines, code, ms, endedBy }: Ran): Promise<void> {
  const row = rows.get(job.label) ?? { failed: 0, ms: [] }
  rows.set(job.label, row)
  row.ms.push(ms)
  const isBad = judge(lines, code, endedBy !== undefined).failed > 0
  process.stdout.write(`${isBad ? 'not ok' : 'ok'} - ${job.label} run ${row.ms.length} of ${times} # time=${ms}ms\n`)
  if (!isBad) return
  row.failed++
  const log = join(logs, logName(job.label, row.ms.length))
  await mkdir(logs, { recursive: true })
  await writeFile(log, `${lines.join('\n')}\n`)
  for (const { name, seed, at, detail } of failuresOf(lines, code, endedBy).slice(0, 3))
    faults.push(
      [
        `${job.label} run ${row.ms.length} after ${(ms / 1000).toFixed(1)} s: ${name}${seed === undefined ? '' : ` (seed ${seed})`}`,
        ...(at === undefined ? [] : [`  at ${at}`]),
        ...detail.map(line => `  | ${line}`),
        `  log: ${log}`
      ].join('\n')
    )
}

const leash = startLeash()
try {
  await servers.prepare()
  for (const [name, { reason }] of servers.missing) faults.push(`${name} cannot be had: ${reason}`)
  for (let i = 0; i < loops; i++) {
    const loop = spawn(process.execPath, ['-e', 'for (;;);'], { detached: true, stdio: 'ignore' })
    leash.stdin?.write(`+${loop.pid}\n`)
  }
  await runJobs({
    root,
    jobs: Array.from({ length: times }, () => jobsOf(files, new Map())).flat(),
    ready: ({ file }) => servers.ready(file),
    places: ({ file }) => servers.places(file),
    env: () => ({
      NODE_OPTIONS: '--conditions=drover',
      NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/v8'),
      ...servers.env()
    }),
    least: width,
    most: width,
    onEnd: record
  })
} finally {
  leash.stdin?.end() // the busy loops end with it
  faults.push(...(await servers.stop()))
}

process.stdout.write(`\nruns failed  shortest  longest  file (beside ${loops} busy loops)\n`)
for (const [label, { failed, ms }] of rows) {
  const [least, most] = [Math.min(...ms), Math.max(...ms)].map(each => `${(each / 1000).toFixed(1)} s`) as [string, string]
  process.stdout.write(
    `${String(ms.length).padStart(4)} ${String(failed).padStart(6)}  ${least.padStart(8)}  ${most.padStart(7)}  ${label}\n`
  )
}
const [runs, failed] = [...rows.values()].reduce(([all, bad], row) => [all + row.ms.length, bad + row.failed], [0, 0])
process.stdout.write(`\n${runs - failed} passed, ${failed} failed\n`)
for (const fault of faults) process.stdout.write(`\nFAILED ${fault}\n`)
process.exitCode = faults.length === 0 ? 0 : 1
