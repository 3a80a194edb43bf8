// `npm start` to ready, as the person who typed it waits for it: the first after `npm ci`, later ones, and one without any compile cache.
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { median, type Report } from './report.ts'

export const name = 'start'

const local = join(import.meta.dirname, '..', '..', 'shared', 'local')

function start(file: string, cache: string): ChildProcessByStdio<null, Readable, null> {
  const env = { ...process.env, NODE_COMPILE_CACHE: cache }
  return spawn(process.execPath, ['--conditions=drover', join(local, file)], { env, stdio: ['ignore', 'pipe', 'inherit'] })
}

async function seconds(cache: string): Promise<number> {
  const started = performance.now()
  const child = start('main.ts', cache)
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
    report({ name: 'start.uncached', ours: await seconds(join(cache, 'none')), unit: 's' })
    await once(start('warm.ts', join(cache, 'warm')), 'exit') // the last step of npm ci
    report({ name: 'start.first', ours: await seconds(join(cache, 'warm')), goal: { atMost: 2 }, unit: 's' })
    const later: number[] = []
    for (let n = 0; n < 5; n++) later.push(await seconds(join(cache, 'warm')))
    report({ name: 'start.later', ours: median(later), goal: { atMost: 2 }, unit: 's' })
  } finally {
    await rm(cache, { recursive: true })
  }
}
