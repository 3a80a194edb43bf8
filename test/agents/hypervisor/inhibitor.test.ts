// NA-20: a lock that is refused costs one process now and then, not one after the other without end
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { inhibitor } from '../../../agents/hypervisor/host/inhibitor.ts'
import { eventually } from '../../servers/eventually.ts'
import { matchWhole } from '../../assert/match-whole.ts'

const folder = await mkdtemp(join(tmpdir(), 'i-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))
const starts = async () => (await readFile(join(folder, 'starts'), 'utf8').catch(() => '')).length

async function lockOf(script: string) {
  const command = join(folder, 'inhibit')
  await writeFile(command, `#!/bin/sh\nprintf x >> ${join(folder, 'starts')}\n${script}\n`)
  await chmod(command, 0o755)
  const errors: string[] = []
  const time = { ms: 0 }
  let held = 0
  const lock = inhibitor({
    command,
    busAddress: 'unix:path=/nonexistent',
    nowMs: () => time.ms,
    holds: () => void (held += 1),
    failed: err => {
      errors.push(err.message)
      void lock.take() // as the agent does: every change makes it look again
    }
  })
  t.teardown(() => lock.release())
  return { lock, errors, time, holds: () => held }
}

t.test('refused: tried again after a while, and what was said is told', async t => {
  const { lock, errors, time, holds } = await lockOf('echo Access denied >&2; exit 1')
  await lock.take()
  await eventually('the refusal', async () => errors.length === 1)
  matchWhole(t, errors, [/Access denied/])
  for (let n = 0; n < 20; n++) await lock.take()
  t.equal(await starts(), 1, 'not at once')
  t.equal(lock.held, false)
  time.ms += 10_000
  await lock.take()
  await eventually('another refusal', async () => errors.length === 2)
  t.equal(await starts(), 2)
  t.equal(holds(), 0)
})

t.test('a program that is not there is told once', async t => {
  const errors: string[] = []
  const command = join(folder, 'nothing')
  const lock = inhibitor({ command, busAddress: '', holds: () => {}, failed: err => void errors.push(err.message) })
  await lock.take()
  await lock.take()
  matchWhole(t, errors, [/ENOENT/])
  t.equal(lock.held, false)
})

t.test('granted: told when it has lasted, and let go by one call', async t => {
  const { lock, errors, holds } = await lockOf('exec cat')
  await lock.take()
  t.equal(lock.held, true)
  await eventually('the word', async () => holds() === 1)
  lock.release()
  lock.release()
  t.equal(lock.held, false)
  t.strictSame(errors, [])
})
