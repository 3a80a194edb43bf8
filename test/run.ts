// `npm test`: checks the code, starts the real servers that the tests need, runs all of them, and says at the end what was left out.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { glob } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { serversOf } from './runner/needs.ts'
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

async function runTests(files: string[], env: Record<string, string>): Promise<{ passed: number; failed: number }> {
  const count = tally()
  const leash = join(import.meta.dirname, 'runner', 'leash.ts')
  const child = spawn(process.execPath, [leash, 'tap', 'run', '--reporter=tap', ...files], {
    cwd: root,
    detached: true, // a signal to the runner's group ends the runner, and that ends this
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '--conditions=drover', NODE_COMPILE_CACHE: compileCache, ...env }
  })
  createInterface(child.stdout).on('line', line => {
    for (const shown of count.read(line)) process.stdout.write(`${shown}\n`)
  })
  const [code] = (await once(child, 'close')) as [number | null]
  // tap knows of a failure that no file told
  return { passed: count.passed, failed: code === 0 ? count.failed : Math.max(count.failed, 1) }
}

const chosen = process.argv.slice(2)
const all = await Array.fromAsync(glob(chosen.length > 0 ? chosen : 'test/**/*.test.ts', { cwd: root }))
const real = all.filter(file => file.endsWith('.real.test.ts'))
const needs = new Map(await Promise.all(real.map(async file => [file, await serversOf(join(root, file), servers)] as const)))

const missing = new Map<string, string>()
const shared: Array<{ env: Record<string, string>; stop: () => Promise<void> }> = []
let tests = { passed: 0, failed: 0 }
const checks = (chosen.length === 0 ? ['typecheck', 'lint'] : []).map(check)
try {
  for (const name of new Set([...needs.values()].flat())) {
    const started = Date.now()
    const server = (await import(join(servers, `${name}.ts`))) as Server
    const prepared = await server.prepare()
    if (!prepared.ok) missing.set(name, prepared.reason)
    else if (server.share) shared.push(await server.share())
    say(`${name}: ${prepared.ok ? `ready after ${((Date.now() - started) / 1000).toFixed(1)} s` : prepared.reason}`)
  }
  const files = all.filter(file => !needs.get(file)?.some(name => missing.has(name)))
  const env = Object.assign({}, ...shared.map(({ env }) => env)) as Record<string, string>
  if (files.length > 0) tests = await runTests(files.sort(), env)
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
