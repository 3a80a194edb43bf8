// `npm start` to ready, as the person who typed it waits for it: the second start and later, and the first with an empty compile cache.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median, type Report } from './report.ts'

export const name = 'start'

const main = join(import.meta.dirname, '..', '..', 'shared', 'local', 'main.ts')

async function seconds(cache: string): Promise<number> {
  const started = performance.now()
  const env = { ...process.env, NODE_COMPILE_CACHE: cache }
  const child = spawn(process.execPath, ['--conditions=drover', main], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const text of child.stdout.setEncoding('utf8')) if (/Drover is ready/.test(text)) break
  const time = (performance.now() - started) / 1000
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
  return time
}

export async function run(report: Report): Promise<void> {
  const cache = await mkdtemp(join(tmpdir(), 'drover-cache-'))
  try {
    report({ name: 'start.first', ours: await seconds(cache), goal: { atMost: 2 }, unit: 's' })
    const later: number[] = []
    for (let n = 0; n < 5; n++) later.push(await seconds(cache))
    report({ name: 'start.later', ours: median(later), goal: { atMost: 2 }, unit: 's' })
  } finally {
    await rm(cache, { recursive: true })
  }
}
