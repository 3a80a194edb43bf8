// Whole runs, on small trees of their own.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { eventually } from '../servers/eventually.ts'

const passes = "console.log('ok 1 - fine\\n1..1')"
const importing = (server: string, then = passes) => `import './servers/${server}.ts'\n${then}`
const server = (more = '', prepared = '{ ok: true }') => `export const prepare = async () => (${prepared})\n${more}`
// as the compilers and the package manager lock: by a child that ends with its parent
const locked = `import { spawn } from 'node:child_process'
import { once } from 'node:events'
export const prepare = async () => {
  const holder = spawn('flock', [import.meta.dirname + '/lock', 'sh', '-c', 'echo; cat'], { stdio: ['pipe', 'pipe', 'inherit'] })
  await once(holder.stdout, 'data')
  holder.stdin.end()
  return { ok: true }
}
export const share = async () => {
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', 'sleep', '600'], { stdio: 'ignore' })
  process.stderr.write('server ' + child.pid + '\\n')
  return { env: { SERVER: String(child.pid) }, stop: async () => void child.kill() }
}`

const runner = join(import.meta.dirname, 'run.ts')
const driver = `import { run } from ${JSON.stringify(runner)}
const [tier, allowMissing, ...patterns] = process.argv.slice(2)
const isGood = await run({ root: import.meta.dirname, tier, patterns, checks: [], allowMissing: allowMissing === 'true', write: text => process.stdout.write(text) })
process.exitCode = isGood ? 0 : 1`

async function tree(t: Test, files: Record<string, string>): Promise<string> {
  const root = t.testdir({ 'drive.ts': driver })
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, 'test', name)), { recursive: true })
    await writeFile(join(root, 'test', name), content)
  }
  return root
}

function start(root: string, ...args: string[]): ChildProcess & { stdout: NodeJS.ReadableStream; stderr: NodeJS.ReadableStream } {
  const { NODE_OPTIONS: _hooks, ...env } = process.env // tap's own hooks, which would make a part of us of it
  return spawn(process.execPath, [join(root, 'drive.ts'), ...args], {
    env: { ...env, XDG_CACHE_HOME: root },
    stdio: ['ignore', 'pipe', 'pipe']
  })
}

async function ended(child: ReturnType<typeof start>): Promise<{ out: string; code: number | null }> {
  const [out, , [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { out, code: code as number | null }
}

const files = (out: string): string[] => [...out.matchAll(/^ok \d+ - (\S+)/gm)].map(([, path = '']) => path).toSorted()

t.test('a server that cannot be had: its files are named at the end and fail the run, unless that is allowed', async t => {
  const root = await tree(t, {
    'servers/ovs.ts': server('', "{ ok: false, reason: 'no apt-get' }"),
    'servers/dbus.ts': server("export const share = async () => { throw new Error('no bus') }"),
    'a.real.test.ts': importing('ovs'),
    'b.real.test.ts': importing('dbus'),
    'c.test.ts': passes
  })
  const strict = await ended(start(root, 'test', 'false'))
  t.equal(strict.code, 1)
  t.ok(
    strict.out.endsWith(`1 passed, 0 failed

FAILED: test/a.real.test.ts was left out: no apt-get (--allow-missing accepts that)

FAILED: test/b.real.test.ts was left out: dbus does not start: no bus
`),
    strict.out
  )
  const broken = await ended(start(root, 'test', 'true'))
  t.equal(broken.code, 1, 'one that could be had and does not start is never allowed')
  t.match(broken.out, /^LEFT OUT test\/a\.real\.test\.ts was left out: no apt-get$/m)
  await writeFile(join(root, 'test/servers/dbus.ts'), server())
  t.equal((await ended(start(root, 'test', 'true'))).code, 0)
})

t.test('two tiers: what needs a compiled server is left to the cluster run, which repeats what needs any Kubernetes', async t => {
  const root = await tree(t, {
    'servers/kubernetes.ts': server(),
    'servers/knative.ts': server("export const tier = 'cluster'"),
    'pure.test.ts': passes,
    'many.ts': 'export const tries = process.env.DROVER_TRIES',
    'random.test.ts': `import { tries } from './many.ts'\nconsole.log('ok 1 - ' + tries + '\\n1..1')`,
    'either.real.test.ts': importing('kubernetes'),
    'both.real.test.ts': importing('kubernetes', importing('knative')),
    'whole.real.test.ts': importing('knative')
  })
  const test = await ended(start(root, 'test', 'false'))
  t.strictSame(files(test.out), ['test/either.real.test.ts', 'test/pure.test.ts', 'test/random.test.ts'])
  t.match(
    test.out,
    /^2 files that need the real Kubernetes.* and of this run 1 files once more on the real Kubernetes API server, and 1 with/m
  )
  const cluster = await ended(start(root, 'cluster', 'false'))
  t.strictSame(files(cluster.out), [
    'test/both.real.test.ts',
    'test/either.real.test.ts',
    'test/random.test.ts',
    'test/whole.real.test.ts'
  ])
  const named = await ended(start(root, 'test', 'false', 'test/whole.real.test.ts'))
  t.strictSame(files(named.out), ['test/whole.real.test.ts'], 'what is named is run')
})

t.test('a file that nobody finds, and one without a test, fail the run', async t => {
  const root = await tree(t, { 'empty.test.ts': 'export {}' })
  const absent = await ended(start(root, 'test', 'false', 'test/absent.test.ts'))
  t.equal(absent.code, 1)
  t.match(absent.out, /FAILED: no test file matches test\/absent\.test\.ts/)
  const one = await ended(start(root, 'test', 'false', 'test/empty.test.ts', 'test/renamed.test.ts'))
  t.match(one.out, /FAILED: no test file matches test\/renamed\.test\.ts/, 'also beside one that is there')
  const empty = await ended(start(root, 'test', 'false'))
  t.equal(empty.code, 1)
  t.match(empty.out, /FAILED test\/empty\.test\.ts after .* s\n {2}no test was run: it ended with exit code 0/)
})

const isAlive = async (pid: number): Promise<boolean> => {
  const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return state !== '' && !/\) Z /.test(state)
}

t.test('a runner that is killed -9 leaves no test, no server and no lock behind', async t => {
  const root = await tree(t, {
    'servers/ovs.ts': locked,
    'hold.real.test.ts': importing('ovs', "process.stderr.write('held ' + process.pid + '\\n'); setInterval(() => {}, 1000)")
  })
  const child = start(root, 'test', 'false')
  t.teardown(() => child.kill('SIGKILL'))
  child.stdout.resume()
  const pids = new Map<string, number>()
  for await (const line of createInterface(child.stderr)) {
    const [, what, pid] = /^(held|server) (\d+)$/.exec(line) ?? []
    if (what !== undefined) pids.set(what, Number(pid))
    if (pids.size === 2) break
  }
  for (const [what, pid] of pids) t.ok(await isAlive(pid), what)
  child.kill('SIGKILL')
  for (const [what, pid] of pids) await eventually(`the end of ${what}`, async () => !(await isAlive(pid)))
  await writeFile(join(root, 'test/hold.real.test.ts'), importing('ovs'))
  t.equal((await ended(start(root, 'test', 'false'))).code, 0, 'the next run gets the lock')
})

t.test('two runs at the same time on one machine', async t => {
  const root = await tree(t, { 'servers/ovs.ts': locked, 'a.real.test.ts': importing('ovs'), 'b.test.ts': passes })
  const both = await Promise.all([ended(start(root, 'test', 'false')), ended(start(root, 'test', 'false'))])
  for (const { out, code } of both) {
    t.equal(code, 0)
    t.strictSame(files(out), ['test/a.real.test.ts', 'test/b.test.ts'])
  }
})
