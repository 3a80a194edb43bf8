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

interface Waited {
  ready: number
  /** Until the first host is on the page. */
  page: number
}

async function seconds(cache: string): Promise<Waited> {
  const started = performance.now()
  const child = start('main.ts', cache)
  const waited: Partial<Waited> = {}
  const after = (): number => (performance.now() - started) / 1000
  let said = ''
  for await (const text of child.stdout.setEncoding('utf8')) {
    said += String(text)
    if (/Drover is ready/.test(said)) waited.ready ??= after()
    if (/The page lives/.test(said)) break
  }
  const { ready = Number.NaN } = waited
  const page = after()
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
  return { ready, page }
}

export async function run(report: Report): Promise<void> {
  const cache = await mkdtemp(join(tmpdir(), 'drover-cache-'))
  try {
    const uncached = await seconds(join(cache, 'none'))
    report({ name: 'start.uncached', ours: uncached.ready, unit: 's' })
    report({ name: 'start.page.uncached', ours: uncached.page, unit: 's' })
    await once(start('warm.ts', join(cache, 'warm')), 'exit') // the last step of npm ci
    const first = await seconds(join(cache, 'warm'))
    report({ name: 'start.first', ours: first.ready, goal: { atMost: 2 }, unit: 's' })
    report({ name: 'start.page.first', ours: first.page, goal: { atMost: 5 }, unit: 's' })
    const later: Waited[] = []
    for (let n = 0; n < 5; n++) later.push(await seconds(join(cache, 'warm')))
    report({ name: 'start.later', ours: median(later.map(({ ready }) => ready)), goal: { atMost: 2 }, unit: 's' })
    report({ name: 'start.page.later', ours: median(later.map(({ page }) => page)), goal: { atMost: 5 }, unit: 's' })
  } finally {
    await rm(cache, { recursive: true })
  }
}
