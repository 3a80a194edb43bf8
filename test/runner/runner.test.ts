import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { eventually } from '../servers/eventually.ts'
import { serversOf } from './needs.ts'
import { inOrder } from './order.ts'
import { runFiles, type PoolOptions, type Ran } from './pool.ts'
import { processors } from './processors.ts'
import { tally } from './tally.ts'

t.test('the servers of a file: its own imports, its helpers’ and what those servers stand on', async t => {
  const files = {
    'servers/kubernetes.ts': 'export async function prepare() {}',
    'servers/kubevirt.ts': "import { kubernetes } from './kubernetes.ts'\nexport { prepare } from './kubevirt/prepare.ts'",
    'servers/request.ts': 'export const request = 1',
    'machine/real.ts': "import { kubevirt } from '../servers/kubevirt.ts'",
    'machine/a.real.test.ts':
      "import t, { type Test } from 'tap'\nimport { real } from './real.ts'\nimport { request } from '../servers/request.ts'",
    'machine/b.real.test.ts': "const { kubernetes } = await import('../servers/kubernetes.ts')",
    'machine/c.test.ts':
      "import { decide } from '../../functions/machine/decide.ts'\nimport type { Api } from '../servers/kubernetes.ts'"
  }
  const folder = t.testdir()
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  const of = (name: string) => serversOf(join(folder, name), join(folder, 'servers'))
  t.strictSame(await of('machine/a.real.test.ts'), ['kubernetes', 'kubevirt'], 'in the order in which they must be ready')
  t.strictSame(await of('machine/b.real.test.ts'), ['kubernetes'])
  t.strictSame(await of('machine/c.test.ts'), [])
})

const tap = `TAP version 14
# Subtest: one
    ok 1 - should be equal
    not ok 2 - inside
ok 1 - one # time=1ms
ok 2 - two # SKIP no reason
not ok 3 - breaks # time=2ms
  ---
  found: 1
  ...
1..3`

t.test('each top-level test counts once, and a file that died counts as a failure', async t => {
  t.strictSame(tally(tap.split('\n'), 1), { passed: 2, failed: 1 })
  t.strictSame(tally(['ok 1 - holds'], 0), { passed: 1, failed: 0 })
  t.strictSame(tally(['ok 1 - holds'], null), { passed: 1, failed: 1 }, 'killed')
  t.strictSame(tally([], 7), { passed: 0, failed: 1 }, 'crashed before its first word')
})

t.test('files with the most patience come first, then those with servers', async t => {
  const folder = t.testdir({
    'a.test.ts': '',
    'b.real.test.ts': '',
    'c.test.ts': "t.setTimeout(120_000)\nt.test('x', async t => t.setTimeout(600_000))",
    'd.real.test.ts': 't.setTimeout(300_000)'
  })
  const files = ['a.test.ts', 'b.real.test.ts', 'c.test.ts', 'd.real.test.ts']
  const order = await inOrder(folder, files, file => file.includes('.real.'))
  t.strictSame(order, ['c.test.ts', 'd.real.test.ts', 'b.real.test.ts', 'a.test.ts'])
})

t.test('processors are idle when they had nothing to do for a while, and nothing was begun since', async t => {
  const now = { idle: 0, total: 0 }
  const pass = (idle: number, busy: number) => {
    now.idle += idle
    now.total += idle + busy
  }
  const { idle, occupied } = processors(() => ({ ...now }), 2)
  pass(3000, 0)
  t.equal(idle(), false, 'not seen for long enough')
  pass(0, 1000)
  t.equal(idle(), true, 'three quarters')
  t.equal(idle(), false, 'seen anew')
  pass(500, 3500)
  t.equal(idle(), false, 'an eighth')
  pass(3000, 0)
  occupied()
  pass(1000, 0)
  t.equal(idle(), false)
})

/** Files that say when they begin and end as they run, and what the pool told of them. */
async function pooled(t: Test, files: Record<string, string>, options: Partial<PoolOptions> = {}): Promise<Ran[]> {
  const ran: Ran[] = []
  const defaults = { ready: () => 'yes' as const, env: () => ({}), least: 2, most: 2 }
  await runFiles({ ...defaults, root: t.testdir(files), files: Object.keys(files), onEnd: one => void ran.push(one), ...options })
  return ran
}

t.test('a file runs as a process of its own; how it ended and what it said is told', async t => {
  const ran = await pooled(
    t,
    {
      'good.mjs': "console.log('ok 1 - ' + process.env.GIVEN)",
      'bad.mjs': "console.log('not ok 1 - bad'); process.exitCode = 3",
      'killed.mjs': "process.kill(process.pid, 'SIGKILL')"
    },
    { env: () => ({ GIVEN: 'here' }) }
  )
  const of = (file: string) => ran.find(one => one.file === file)
  t.match(of('good.mjs'), { code: 0, lines: ['ok 1 - here'] })
  t.match(of('bad.mjs'), { code: 3, lines: ['not ok 1 - bad'] })
  t.match(of('killed.mjs'), { code: null, lines: [] })
})

t.test('a file waits for its servers while others run, and one whose server cannot be had is left out', async t => {
  let asked = 0
  const ran = await pooled(
    t,
    { 'late.mjs': '', 'never.mjs': '', 'soon.mjs': '' },
    {
      least: 1,
      most: 1,
      ready: file => (file === 'never.mjs' ? 'never' : file === 'late.mjs' && ++asked < 3 ? 'not yet' : 'yes')
    }
  )
  t.strictSame(
    ran.map(({ file }) => file),
    ['soon.mjs', 'late.mjs']
  )
})

t.test('files that want the same thing for themselves run one after the other, and nobody else waits for that', async t => {
  const write = (text: string) => `import { appendFileSync } from 'node:fs'; appendFileSync('told', '${text} ')`
  const alone = (name: string) =>
    `${write(`+${name}`)}; await new Promise(done => setTimeout(done, 300)); appendFileSync('told', '-${name} ')`
  const root = t.testdir({ 'a.mjs': alone('a'), 'b.mjs': alone('b'), 'c.mjs': write('c') })
  await runFiles({
    root,
    files: ['a.mjs', 'b.mjs', 'c.mjs'],
    ready: () => 'yes',
    env: () => ({}),
    alone: file => (file === 'c.mjs' ? undefined : 'openstack'),
    least: 2,
    most: 2,
    onEnd: () => {}
  })
  const told = (await readFile(join(root, 'told'), 'utf8')).trim().split(' ')
  t.strictSame(
    told.filter(word => word !== 'c'),
    ['+a', '-a', '+b', '-b']
  )
  t.ok(told.indexOf('c') < told.indexOf('+b'), told.join(' '))
})

const root = join(import.meta.dirname, '../..')

function runner(args: string[], env: Record<string, string>) {
  const { NODE_OPTIONS: _hooks, ...inherited } = process.env // tap's own hooks, which would make a part of us of it
  return spawn(process.execPath, ['--conditions=drover', 'test/run.ts', ...args], {
    cwd: root,
    env: { ...inherited, PATH: `${join(root, 'node_modules/.bin')}:${inherited['PATH']}`, ...env },
    stdio: ['ignore', 'pipe', 'pipe']
  })
}

for (const CI of ['true', 'false']) {
  t.test(`a server that cannot be had: its suites are named at the end, with CI=${CI}`, async t => {
    const child = runner(['test/kube/read.real.test.ts'], { CI, XDG_CACHE_HOME: '/dev/null/nowhere' }) // nothing can be built there
    const [out, said, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
    const lines = said.trim().split('\n')
    const last = CI === 'true' ? [/FAILED: suites were left out, and CI=true asks for all/] : []
    t.match(lines.slice(-1 - last.length), [/LEFT OUT test\/kube\/read\.real\.test\.ts: Kubernetes cannot be built: /, ...last])
    t.equal(out, '0 passed, 0 failed\n')
    t.equal(code, last.length)
  })
}

/** The process of the held test; undefined when the runner ended before it was there. */
async function holding(child: ReturnType<typeof runner>): Promise<number | undefined> {
  for await (const line of createInterface(child.stderr)) {
    const [, pid] = /^held by (\d+)$/.exec(line) ?? []
    if (pid !== undefined) return Number(pid)
  }
  return undefined
}

t.test('nothing goes on when the runner is killed -9', async t => {
  const child = runner(['test/runner/hold.ts'], {})
  t.teardown(() => child.kill('SIGKILL'))
  child.stdout.resume()
  const pid = await holding(child)
  if (pid === undefined) throw new Error('the runner never came to its test')
  t.ok(existsSync(`/proc/${pid}`))
  child.kill('SIGKILL')
  await eventually('its end', async () => !existsSync(`/proc/${pid}`))
})

const text = async (stream: NodeJS.ReadableStream) =>
  Buffer.concat(await Array.fromAsync(stream as AsyncIterable<Buffer>)).toString()
