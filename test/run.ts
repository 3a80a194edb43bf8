// `npm test`: checks the code, starts the real servers that the tests need, runs all of them, and says at the end what was left out.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { glob } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { serversOf } from './runner/needs.ts'
import { inOrder } from './runner/order.ts'
import { runFiles, type Ran } from './runner/pool.ts'
import { tally } from './runner/tally.ts'
import { say, type Prepared } from './servers/say.ts'

interface Server {
  /** Wants the processors while it is made ready; the others want the network. */
  compiles?: boolean
  /** Serves one test file at a time: those that want it are begun first, since together they take the longest. */
  exclusive?: boolean
  /** Installs or builds what is missing. */
  prepare(): Promise<Prepared>
  /** One for the whole run; without it each test file starts its own. */
  share?(): Promise<{ env: Record<string, string>; stop: () => Promise<void> }>
}

const root = join(import.meta.dirname, '..')
const servers = join(import.meta.dirname, 'servers')
const compileCache = join(root, 'node_modules/.cache/v8')
const wrong: string[] = []

/** Runs beside the tests, which wait more than they work; what it finds is told at once, and in one piece. */
async function check(script: string): Promise<void> {
  const child = spawn('npm', ['run', '--silent', script], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  if (code === 0) return
  process.stdout.write(output + errors)
  wrong.push(`npm run ${script} found faults`)
}

const tests = { passed: 0, failed: 0 }
let ended = 0

/** A line for each file, and all that a failed one said. */
function told({ file, lines, code, ms }: Ran): void {
  const { passed, failed } = tally(lines, code)
  tests.passed += passed
  tests.failed += failed
  if (failed > 0) process.stdout.write(`# Subtest: ${file}\n${lines.map(line => `    ${line}\n`).join('')}`)
  process.stdout.write(`${failed > 0 ? 'not ok' : 'ok'} ${++ended} - ${file} # time=${ms}ms\n`)
}

const chosen = process.argv.slice(2)
const all = await Array.fromAsync(glob(chosen.length > 0 ? chosen : 'test/**/*.test.ts', { cwd: root }))
const real = all.filter(file => file.endsWith('.real.test.ts'))
const needs = new Map(await Promise.all(real.map(async file => [file, await serversOf(join(root, file), servers)] as const)))

const known = new Map<string, Server>()
for (const name of new Set([...needs.values()].flat())) known.set(name, (await import(join(servers, `${name}.ts`))) as Server)
const missing = new Map<string, string>()
const standing = new Set<string>()
const shared: Array<{ env: Record<string, string>; stop: () => Promise<void> }> = []

async function prepare(name: string, server: Server): Promise<void> {
  const started = Date.now()
  const prepared = await server.prepare()
  try {
    if (prepared.ok && server.share) shared.push(await server.share())
    if (prepared.ok) standing.add(name)
    else missing.set(name, prepared.reason)
  } catch (err) {
    missing.set(name, `${name} does not start: ${(err as Error).message}`)
  }
  say(`${name}: ${missing.get(name) ?? `ready after ${((Date.now() - started) / 1000).toFixed(1)} s`}`)
}

// A whole cluster with all its parts wants the machine for itself, and nobody else is to wait for it.
const wantsAll = (file: string): boolean => needs.get(file)?.includes('knative') ?? false
const groups = [
  { files: all.filter(file => !wantsAll(file)), least: 2, most: 4 },
  { files: all.filter(wantsAll), least: 1, most: 1 }
]

/** One server after the other, so that each has the machine; but what is compiled and what is installed side by side. */
async function prepareAll(): Promise<void> {
  const names = [...new Set(groups.flatMap(({ files }) => files.flatMap(file => needs.get(file) ?? [])))]
  const inTurn = async (compiles: boolean) => {
    for (const name of names) {
      const server = known.get(name) as Server
      if ((server.compiles ?? false) === compiles) await prepare(name, server)
    }
  }
  await Promise.all([inTurn(true), inTurn(false)])
}

function ready(file: string): 'yes' | 'not yet' | 'never' {
  const wanted = needs.get(file) ?? []
  if (wanted.some(name => missing.has(name))) return 'never'
  return wanted.every(name => standing.has(name)) ? 'yes' : 'not yet'
}

const env = (): Record<string, string> =>
  Object.assign({ NODE_OPTIONS: '--conditions=drover', NODE_COMPILE_CACHE: compileCache }, ...shared.map(({ env }) => env))

const alone = (file: string): string | undefined => needs.get(file)?.find(name => known.get(name)?.exclusive)

async function runAll(): Promise<void> {
  for (const { files, ...width } of groups) {
    const ordered = await inOrder(root, files, file => needs.has(file))
    const first = ordered.filter(file => alone(file) !== undefined)
    const rest = ordered.filter(file => alone(file) === undefined)
    await runFiles({ root, files: [...first, ...rest], ready, env, alone, ...width, onEnd: told })
  }
}

const checks = (chosen.length === 0 ? ['typecheck', 'lint'] : []).map(check)
try {
  await Promise.all([prepareAll(), runAll()])
} finally {
  for (const { stop } of shared) await stop()
}

await Promise.all(checks)

const left = [...needs].filter(([, names]) => names.some(name => missing.has(name)))
if (left.length > 0 && process.env['CI'] === 'true') wrong.push('suites were left out, and CI=true asks for all of them')
if (all.length === 0) wrong.push(`no test file is named ${chosen.join(' ')}`)
for (const [file, names] of left) say(`LEFT OUT ${file}: ${names.flatMap(name => missing.get(name) ?? []).join('; ')}`)
for (const reason of wrong) say(`FAILED: ${reason}`)
process.stdout.write(`${tests.passed} passed, ${tests.failed} failed\n`)
process.exitCode = wrong.length === 0 && tests.failed === 0 ? 0 : 1
