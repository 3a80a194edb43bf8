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

const missing = new Map<string, string>()
const standing = new Set<string>()
const shared: Array<{ env: Record<string, string>; stop: () => Promise<void> }> = []

async function prepare(name: string): Promise<void> {
  const started = Date.now()
  const server = (await import(join(servers, `${name}.ts`))) as Server
  const prepared = await server.prepare()
  if (!prepared.ok) missing.set(name, prepared.reason)
  else {
    if (server.share) shared.push(await server.share())
    standing.add(name)
  }
  say(`${name}: ${prepared.ok ? `ready after ${((Date.now() - started) / 1000).toFixed(1)} s` : prepared.reason}`)
}

/** Begins with the files that need no server, while one server after the other is made ready. */
async function runGroup(files: readonly string[], width: { least: number; most: number }): Promise<void> {
  if (files.length === 0) return
  const names = [...new Set(files.flatMap(file => needs.get(file) ?? []))].filter(
    name => !standing.has(name) && !missing.has(name)
  )
  const preparing = (async () => {
    for (const name of names) await prepare(name)
  })()
  const ready = (file: string) => {
    const wanted = needs.get(file) ?? []
    if (wanted.some(name => missing.has(name))) return 'never'
    return wanted.every(name => standing.has(name)) ? 'yes' : 'not yet'
  }
  const env = (): Record<string, string> =>
    Object.assign({ NODE_OPTIONS: '--conditions=drover', NODE_COMPILE_CACHE: compileCache }, ...shared.map(({ env }) => env))
  const running = runFiles({
    root,
    files: await inOrder(root, files, file => needs.has(file)),
    ready,
    env,
    ...width,
    onEnd: told
  })
  await Promise.all([preparing, running])
}

const checks = (chosen.length === 0 ? ['typecheck', 'lint'] : []).map(check)
// A whole cluster with all its parts wants the machine for itself, and nobody else is to wait for it.
const wantsAll = (file: string): boolean => needs.get(file)?.includes('knative') ?? false
try {
  await runGroup(
    all.filter(file => !wantsAll(file)),
    { least: 2, most: 4 }
  )
  await runGroup(all.filter(wantsAll), { least: 1, most: 1 })
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
