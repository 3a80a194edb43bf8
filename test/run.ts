// `npm test`: checks the code, starts the real servers that the tests need, runs all of them, and says at the end what was left out.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { say, type Prepared } from './servers/say.ts'

interface Server {
  /** Installs or builds what is missing. */
  prepare(): Promise<Prepared>
  /** One for the whole run; without it each test file starts its own. */
  share?(): Promise<{ env: Record<string, string>; stop: () => Promise<void> }>
}

const root = join(import.meta.dirname, '..')
const server = async (name: string): Promise<Server> => (await import(`./servers/${name}.ts`)) as Server

async function run(command: string, args: string[], env: Record<string, string> = {}): Promise<boolean> {
  const child = spawn(command, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code === 0
}

/** Which servers a test file asks for, by its imports: `../servers/NAME.ts`. */
async function needs(file: string): Promise<string[]> {
  const text = await readFile(join(root, file), 'utf8')
  const imported = new Set([...text.matchAll(/from '(?:\.\.?\/)+(?:servers\/)?([a-z]+)\.ts'/g)].map(([, name]) => name))
  const servers = ['kubernetes', 'libvirt', 'ovs', 'openstack'].filter(name => imported.has(name))
  return servers.length === 0 ? ['kubernetes'] : servers
}

const chosen = process.argv.slice(2)
const all = await Array.fromAsync(glob(chosen.length > 0 ? chosen : 'test/**/*.test.ts', { cwd: root }))
const wanted = new Map(
  await Promise.all(all.filter(file => file.endsWith('.real.test.ts')).map(async file => [file, await needs(file)] as const))
)

const missing = new Map<string, string>()
const shared: Array<{ env: Record<string, string>; stop: () => Promise<void> }> = []
let ok = true
try {
  if (chosen.length === 0)
    ok = (await run('npm', ['run', '--silent', 'typecheck'])) && (await run('npm', ['run', '--silent', 'lint']))
  for (const name of new Set([...wanted.values()].flat())) {
    const started = Date.now()
    const part = await server(name)
    const prepared = await part.prepare()
    if (!prepared.ok) missing.set(name, prepared.reason)
    else if (part.share) shared.push(await part.share())
    say(`${name}: ${prepared.ok ? `ready after ${((Date.now() - started) / 1000).toFixed(1)} s` : prepared.reason}`)
  }
  const files = all.filter(file => !wanted.get(file)?.some(name => missing.has(name)))
  const env = Object.assign({ NODE_OPTIONS: '--conditions=drover' }, ...shared.map(({ env }) => env)) as Record<string, string>
  ok = (await run('tap', ['run', ...files.sort()], env)) && ok
} finally {
  for (const { stop } of shared) await stop()
}

const left = [...wanted].filter(([, names]) => names.some(name => missing.has(name)))
for (const [file, names] of left) say(`LEFT OUT ${file}: ${names.flatMap(name => missing.get(name) ?? []).join('; ')}`)
if (left.length > 0 && process.env['CI'] === 'true') ok = false
process.exitCode = ok ? 0 : 1
