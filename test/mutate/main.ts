// `npm run mutate [-- FILES]`: how many small wrong changes of the pure code its tests notice.
import { glob, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { attempt } from './attempt.ts'
import { baseline, type Baseline } from './baseline.ts'
import { candidatesOf } from './candidates.ts'
import { compiling } from './compiles.ts'
import { equivalents, withoutEquivalents } from './equivalent.ts'
import { mutantsOf, type Mutant } from './mutants.ts'
import { folderOf, isAlive, scoreOf, survivorLine, table, type Outcome } from './report.ts'
import { targets } from './targets.ts'

const help = `npm run mutate [-- [OPTIONS] FILES]

Changes the pure code in one small way at a time (a condition turned round, a limit moved by one, a call left out) and runs the test files
that reach the change. A change that no test notices is a survivor: a test is missing there, or the change makes no difference
and belongs into test/mutate/equivalent.ts with the reason.

FILES             source files or patterns; otherwise all of the pure code (test/mutate/targets.ts)
--least PERCENT   exit code 1 if a folder has less (85)
--minutes N       no further file of a folder is begun after so long, which gives exit code 1 (60)
--jobs N          so many at a time (2)
--survivors       only the mutants that survived the last run
--list            print the mutants and run nothing
`
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    least: { type: 'string', default: '85' },
    minutes: { type: 'string', default: '60' },
    jobs: { type: 'string', default: '2' },
    root: { type: 'string', default: join(import.meta.dirname, '../..') }, // the test of this tool has a small one of its own
    survivors: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false }
  }
})
if (options.help) {
  process.stdout.write(help)
  process.exit(0)
}
const { root } = options
const jobs = Number(options.jobs)
const memory = join(root, 'node_modules/.cache/mutate-survivors.json')
const wrong: string[] = []
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const progress = (line: string): void => void process.stderr.write(`# ${line}\n`)
const key = ({ file, context, original, text }: Mutant): string => JSON.stringify([file, context, original, text])

const patterns = positionals.length > 0 ? positionals : targets
const sources = (await Array.fromAsync(glob(patterns, { cwd: root }))).toSorted()
if (sources.length === 0) wrong.push(`no source file is named ${patterns.join(' ')}`)
const last = new Set(JSON.parse(await readFile(memory, 'utf8').catch(() => '[]')) as string[])

async function wantedMutants(files: readonly string[]): Promise<Mutant[]> {
  const all = (await Promise.all(files.map(async file => mutantsOf(file, await readFile(join(root, file), 'utf8'))))).flat()
  const { rest, excused, stale } = withoutEquivalents(all, equivalents)
  for (const { file, line, from, to } of stale)
    wrong.push(`equivalent.ts names what is not there: ${file} "${line}" ${from} → ${to}`)
  const chosen = options.survivors ? rest.filter(mutant => last.has(key(mutant))) : rest
  const kept = await compiling(root, chosen)
  progress(`${kept.length} mutants; ${excused.length} are equivalent, ${chosen.length - kept.length} do not compile`)
  return kept
}

const baselines = new Map<string, Promise<Baseline>>()

/** Taken once, when the first mutant needs the test file. */
function baselineOf(test: string): Promise<Baseline> {
  const found = baselines.get(test) ?? takeBaseline(test)
  baselines.set(test, found)
  return found
}

async function takeBaseline(test: string): Promise<Baseline> {
  const found = await baseline(root, test)
  if (found.result === 'failed') wrong.push(`${test} fails without any mutant`)
  progress(found.result === 'passed' ? `${test}: ${found.seconds.toFixed(1)} s` : `${test} is left out: ${found.result}`)
  return found
}

async function runFolder(folder: string, files: readonly string[]): Promise<Outcome[]> {
  const begun = Date.now()
  progress(`${folder}: ${files.length} files`)
  const mutants = await wantedMutants(files)
  if (options.list) {
    for (const mutant of mutants) say(survivorLine({ mutant, result: 'survived' }))
    return []
  }
  const candidates = await candidatesOf(root, files)
  const outcomes: Outcome[] = []
  let saidMs = Date.now()
  const onOutcome = (outcome: Outcome): void => {
    outcomes.push(outcome)
    if (Date.now() - saidMs < 15_000) return
    saidMs = Date.now()
    progress(`${folder}: ${outcomes.length} of ${mutants.length}, ${Math.round((saidMs - begun) / 1000)} s`)
  }
  const onDoubt = (test: string): void => {
    wrong.push(`${test} fails without any mutant in a process that tries many: what it noticed is not counted`)
  }
  for (const [source, of] of Map.groupBy(mutants, ({ file }) => file)) {
    const tests = candidates.get(source) ?? []
    const late = Date.now() - begun > Number(options.minutes) * 60_000
    if (late) outcomes.push(...of.map(mutant => ({ mutant, result: 'not tried' as const })))
    else await attempt({ root, source, mutants: of, tests, baselineOf, jobs, onOutcome, onDoubt })
  }
  const place = new Map(mutants.map((mutant, index) => [mutant, index]))
  outcomes.sort((a, b) => (place.get(a.mutant) ?? 0) - (place.get(b.mutant) ?? 0))
  for (const outcome of outcomes.filter(isAlive)) say(survivorLine(outcome))
  for (const line of table(folder, outcomes, (Date.now() - begun) / 1000)) say(line)
  if (scoreOf(outcomes) < Number(options.least)) wrong.push(`${folder}: less than ${options.least} % killed`)
  if (outcomes.some(({ result }) => result === 'not tried')) wrong.push(`${folder}: not all tried within ${options.minutes} min`)
  return outcomes
}

const scores: string[] = []
for (const [folder, files] of Map.groupBy(sources, folderOf)) {
  const outcomes = await runFolder(folder, files)
  if (outcomes.length > 0)
    scores.push(
      table(folder, outcomes, 0)
        .at(-1)
        ?.replace(/ {2}in 0 s$/, '') ?? ''
    )
  for (const outcome of outcomes) {
    if (isAlive(outcome)) last.add(key(outcome.mutant))
    else last.delete(key(outcome.mutant))
  }
}
if (!options.list) {
  await mkdir(dirname(memory), { recursive: true })
  await writeFile(memory, JSON.stringify([...last]))
}
if (scores.length > 1) say(['', ...scores].join('\n'))
for (const reason of wrong) say(`FAILED: ${reason}`)
process.exitCode = wrong.length > 0 ? 1 : 0
