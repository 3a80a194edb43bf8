import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { serversOf } from './needs.ts'
import { findTests, jobsOf, type TestFile } from './suite.ts'
import { keepTimes, readTimes } from './times.ts'

async function tree(t: Test, files: Record<string, string>): Promise<string> {
  const folder = t.testdir()
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  return folder
}

t.test('the servers of a file: its own imports, its helpers’ and what those servers stand on', async t => {
  const folder = await tree(t, {
    'servers/kubernetes.ts': 'export async function prepare() {}',
    'servers/kubevirt.ts': "import { kubernetes } from './kubernetes.ts'\nexport { prepare } from './kubevirt/prepare.ts'",
    'servers/request.ts': 'export const request = 1',
    'machine/real.ts': "import { kubevirt } from '../servers/kubevirt.ts'",
    'machine/a.real.test.ts':
      "import t, { type Test } from 'tap'\nimport { real } from './real.ts'\nimport { request } from '../servers/request.ts'",
    'machine/b.real.test.ts': "const { kubernetes } = await import('../servers/kubernetes.ts')",
    'machine/c.test.ts':
      "import { decide } from '../../functions/machine/decide.ts'\nimport type { Api } from '../servers/kubernetes.ts'"
  })
  const of = (name: string) => serversOf(join(folder, name), join(folder, 'servers'))
  t.strictSame(await of('machine/a.real.test.ts'), ['kubernetes', 'kubevirt'], 'in the order in which they must be ready')
  t.strictSame(await of('machine/b.real.test.ts'), ['kubernetes'])
  t.strictSame(await of('machine/c.test.ts'), [])
})

t.test('a file says its time limit, its servers and its shards', async t => {
  const folder = await tree(t, {
    'test/servers/ovs.ts': 'export async function prepare() {}',
    'test/a.test.ts': "t.setTimeout(120_000)\nt.test('x', async t => t.setTimeout(600_000))",
    'test/b.real.test.ts': "// Twenty drains.\n// shards: 3\nimport { lab } from './servers/ovs.ts'",
    'test/c.test.ts': `import { many } from '../many.ts'${'\n'.repeat(6)}// shards: 4`
  })
  const found = await findTests(folder, ['test/**/*.test.ts', 'test/a.test.ts'])
  t.strictSame(
    found.toSorted((a, b) => a.path.localeCompare(b.path)),
    [
      { path: 'test/a.test.ts', servers: [], limitMs: 600_000, shards: 1, triesMany: false },
      { path: 'test/b.real.test.ts', servers: ['ovs'], limitMs: 0, shards: 3, triesMany: false },
      { path: 'test/c.test.ts', servers: [], limitMs: 0, shards: 1, triesMany: true }
    ],
    'each file once; a comment far below is not its head'
  )
})

const file = (path: string, more: Partial<TestFile> = {}): TestFile => ({
  path,
  servers: [],
  limitMs: 0,
  shards: 1,
  triesMany: false,
  ...more
})
const labels = (files: TestFile[], times: Record<string, number> = {}, only?: string) =>
  jobsOf(files, new Map(Object.entries(times)), only).map(({ label }) => label)

t.test('the longest of the last run come first; what was never run is guessed by its limit and its servers', async t => {
  t.strictSame(labels([file('a'), file('b')], { a: 10, b: 20 }), ['b', 'a'])
  t.strictSame(labels([file('a'), file('b', { servers: ['ovs'] }), file('c', { limitMs: 600_000 })]), ['c', 'b', 'a'])
  t.strictSame(labels([file('b'), file('a')]), ['a', 'b'], 'always the same order')
})

t.test('a file with shards is as many jobs, or the one that is asked for', async t => {
  const sharded = [file('r', { shards: 3 }), file('s')]
  t.strictSame(labels(sharded), ['r (1/3)', 'r (2/3)', 'r (3/3)', 's'])
  t.strictSame(labels(sharded, {}, '2/3'), ['r (2/3)', 's'])
  t.strictSame(
    jobsOf(sharded, new Map()).map(({ shard }) => shard),
    ['1/3', '2/3', '3/3', undefined]
  )
})

t.test('times are kept over runs; a broken or missing file is no times', async t => {
  const kept = join(t.testdir({ 'broken.json': '{"a":' }), 'deep/times.json')
  t.strictSame(await readTimes(kept), new Map())
  await keepTimes(new Map([['a', 1]]), kept)
  await keepTimes(new Map([['b', 2]]), kept)
  t.strictSame(
    await readTimes(kept),
    new Map([
      ['a', 1],
      ['b', 2]
    ])
  )
  t.strictSame(await readTimes(join(dirname(dirname(kept)), 'broken.json')), new Map())
  await t.resolves(keepTimes(new Map([['a', 1]]), '/dev/null/times.json'), 'a place that cannot be written to')
})
