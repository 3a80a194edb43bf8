import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { eventually } from '../servers/eventually.ts'
import { runJobs, type PoolOptions, type Ran } from './pool.ts'
import type { Job } from './suite.ts'

const jobOf = (path: string, shard?: string): Job => ({
  file: { path, servers: [], limitMs: 0, shards: 1, triesMany: false },
  label: path,
  ...(shard !== undefined && { shard })
})
const defaults = { ready: () => 'yes' as const, env: () => ({}), least: 2, most: 2 }

async function pooled(t: Test, files: Record<string, string>, options: Partial<PoolOptions> = {}): Promise<Map<string, Ran>> {
  const ran = new Map<string, Ran>()
  await runJobs({
    ...defaults,
    root: t.testdir(files),
    jobs: Object.keys(files).map(path => jobOf(path)),
    onEnd: one => void ran.set(one.job.label, one),
    ...options
  })
  return ran
}

t.test('a file runs as a process of its own, with its shard and the environment', async t => {
  const files = {
    'good.mjs': "console.log('ok 1 - ' + process.env.GIVEN + ' ' + process.env.DROVER_SHARD)",
    'bad.mjs': "console.log('not ok 1 - bad'); process.exitCode = 3",
    'killed.mjs': "process.kill(process.pid, 'SIGKILL')"
  }
  const jobs = Object.keys(files).map(path => jobOf(path, '2/3'))
  const ran = await pooled(t, files, { jobs, env: () => ({ GIVEN: 'here' }) })
  const of = (label: string) => [ran.get(label)?.code, ran.get(label)?.lines]
  t.strictSame(of('good.mjs'), [0, ['ok 1 - here 2/3']])
  t.strictSame(of('bad.mjs'), [3, ['not ok 1 - bad']])
  t.strictSame(of('killed.mjs'), [null, []])
})

t.test('a file waits for its servers while others run, and one whose server cannot be had is left out', async t => {
  let asked = 0
  const ran = await pooled(
    t,
    { 'late.mjs': '', 'never.mjs': '', 'soon.mjs': '' },
    {
      least: 1,
      most: 1,
      ready: ({ label }) => (label === 'never.mjs' ? 'never' : label === 'late.mjs' && ++asked < 3 ? 'not yet' : 'yes')
    }
  )
  t.strictSame([...ran.keys()], ['soon.mjs', 'late.mjs'])
})

// Each says `+name` when it begins, waits until `enough` others have begun too or the file `go` of its turn is there, and says `-name`.
const log = "import { appendFileSync, readFileSync } from 'node:fs'; const log = text => appendFileSync('log', text + ' ')"
const meets = (name: string, other: string) =>
  `${log}; log('+${name}'); while (!readFileSync('log', 'utf8').includes('+${other}')) await new Promise(setImmediate); log('-${name}')`
const alone = (name: string) => `${log}; log('+${name}'); log('-${name}')`

t.test('of a thing with one place only one file at a time has it, and nobody else waits for that', async t => {
  // a ends only when c has begun: c, which wants no place, is not held up by b
  const root = t.testdir({ log: '', 'a.mjs': meets('a', 'c'), 'b.mjs': alone('b'), 'c.mjs': alone('c') })
  await runJobs({
    ...defaults,
    root,
    jobs: ['a.mjs', 'b.mjs', 'c.mjs'].map(path => jobOf(path)),
    places: ({ label }) => (label === 'c.mjs' ? undefined : { name: 'openstack', count: 1 }),
    onEnd: () => {}
  })
  const written = (await readFile(join(root, 'log'), 'utf8')).trim().split(' ')
  t.strictSame(
    written.filter(word => !word.endsWith('c')),
    ['+a', '-a', '+b', '-b']
  )
})

t.test('of a thing with two places two files have one at the same time', async t => {
  const root = t.testdir({ log: '', 'a.mjs': meets('a', 'b'), 'b.mjs': meets('b', 'a') })
  const codes: Array<number | null> = []
  await runJobs({
    ...defaults,
    root,
    jobs: ['a.mjs', 'b.mjs'].map(path => jobOf(path)),
    places: () => ({ name: 'openstack', count: 2 }),
    onEnd: ({ code }) => void codes.push(code)
  })
  t.strictSame(codes, [0, 0])
})

/** The process that the file named; a zombie, which only waits for its parent to notice, is gone too. */
async function gone(ran: Ran | undefined): Promise<void> {
  const pid = Number(ran?.lines[0]?.replace('# pid ', ''))
  await eventually(`the end of process ${pid}`, async () => {
    const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
    return state === '' || /\) Z /.test(state)
  })
}

t.test('a file that hangs is ended with all that it started, and says so', async t => {
  const hang = `import { spawn } from 'node:child_process'
    const child = spawn('sleep', ['600'], { stdio: 'inherit' }) // holds the output open as well
    console.log('# pid ' + child.pid)
    setInterval(() => {}, 1000)`
  const ran = await pooled(t, { 'hang.mjs': hang }, { limitMs: 1000, graceMs: 1000 })
  const one = ran.get('hang.mjs')
  t.equal(one?.code, null)
  t.equal(one?.endedBy, 'it did not end within 2 s')
  await gone(one)
})

t.test('a file that leaves a process behind is a failure, and the process is ended', async t => {
  const leave = (stdio: string): string => `import { spawn } from 'node:child_process'
    const child = spawn('sleep', ['600'], { stdio: '${stdio}' })
    child.unref()
    console.log('# pid ' + child.pid)
    console.log('ok 1 - all is well')`
  const ran = await pooled(t, { 'loud.mjs': leave('inherit'), 'silent.mjs': leave('ignore') }, { leftoverMs: 200 })
  t.equal(ran.get('loud.mjs')?.endedBy, 'it ended, but something that it started holds its output open')
  t.equal(ran.get('silent.mjs')?.endedBy, 'it ended, but something that it started still runs')
  for (const one of ran.values()) await gone(one)
})
