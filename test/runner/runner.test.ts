import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { eventually } from '../servers/eventually.ts'
import { serversOf } from './needs.ts'
import { tally } from './tally.ts'

t.test('the servers of a file: its own imports, its helpers’ and what those servers stand on', async t => {
  const files = {
    'servers/kubernetes.ts': 'export async function prepare() {}',
    'servers/kubevirt.ts': "import { kubernetes } from './kubernetes.ts'\nexport { prepare } from './kubevirt/prepare.ts'",
    'servers/request.ts': 'export const request = 1',
    'machine/real.ts': "import { kubevirt } from '../servers/kubevirt.ts'",
    'machine/a.real.test.ts':
      "import t from 'tap'\nimport { real } from './real.ts'\nimport { request } from '../servers/request.ts'",
    'machine/b.real.test.ts': "const { kubernetes } = await import('../servers/kubernetes.ts')",
    'machine/c.test.ts': "import { decide } from '../../functions/machine/decide.ts'"
  }
  const folder = t.testdir()
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  const of = (name: string) => serversOf(join(folder, name), join(folder, 'servers'))
  t.same(await of('machine/a.real.test.ts'), ['kubernetes', 'kubevirt'], 'in the order in which they must be ready')
  t.same(await of('machine/b.real.test.ts'), ['kubernetes'])
  t.same(await of('machine/c.test.ts'), [])
})

const tap = `TAP version 14
# Subtest: test/a.test.ts
    # Subtest: one
        ok 1 - should be equal
    ok 1 - one # time=1ms
    ok 2 - two # SKIP no reason
    1..2
ok 1 - test/a.test.ts # time=5ms
# Subtest: test/b.test.ts
    not ok 1 - breaks # time=2ms
      ---
      found: 1
      ...
    ok 2 - holds # time=2ms
not ok 2 - test/b.test.ts # time=5ms
# Subtest: test/c.test.ts
    ok 1 - holds # time=2ms
not ok 3 - test/c.test.ts # time=120000ms {
1..3`

t.test(
  'each top-level test counts once, a file that died counts as a failure, and only failed files are told in full',
  async t => {
    const count = tally()
    const shown = tap.split('\n').flatMap(line => count.read(line))
    t.equal(count.passed, 4)
    t.equal(count.failed, 2)
    t.equal(shown[0], 'ok 1 - test/a.test.ts # time=5ms')
    t.ok(shown.includes('      found: 1'), 'what the failed test said')
    t.equal(shown.filter(line => line.startsWith('not ok')).length, 2)
  }
)

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
  // Two taps in one tree clear the same folder: the inner one may stumble over what the outer one writes there, and is then begun again.
  for (let tries = 1; tries <= 5; tries++) {
    const child = runner(['test/runner/hold.ts'], {})
    t.teardown(() => child.kill('SIGKILL'))
    child.stdout.resume()
    const pid = await holding(child)
    if (pid === undefined) continue
    t.ok(existsSync(`/proc/${pid}`))
    child.kill('SIGKILL')
    await eventually('its end', async () => !existsSync(`/proc/${pid}`))
    return
  }
  t.fail('the runner never came to its test')
})

const text = async (stream: NodeJS.ReadableStream) =>
  Buffer.concat(await Array.fromAsync(stream as AsyncIterable<Buffer>)).toString()
