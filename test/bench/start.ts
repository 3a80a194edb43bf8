// `npm start` to ready, as the person who typed it waits for it: the first after `npm ci`, later ones, and one without any compile cache.
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { closing } from './lib/closing.ts'
import { atMost, type Declared, type Figures, type Report } from './lib/figures.ts'
import { alternate } from './lib/statistics.ts'

const ready: Declared = { unit: 's', goal: atMost(2) }
const page: Declared = { unit: 's', goal: atMost(5), note: 'until the first host is on the page' }
export const figures: Figures = {
  'start.uncached': { unit: 's' },
  'start.page.uncached': { unit: 's' },
  'start.first': ready,
  'start.page.first': page,
  'start.later': ready,
  'start.page.later': page
}

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

export const run = (report: Report): Promise<void> =>
  closing(async t => {
    const folder = await mkdtemp(join(tmpdir(), 'drover-cache-'))
    t.teardown(() => rm(folder, { recursive: true }))
    const cache = (round: number): string => join(folder, `warm-${round}`)
    const runs = await alternate(report.rounds(5), {
      uncached: round => seconds(join(folder, `none-${round}`)),
      first: async round => {
        await once(start('warm.ts', cache(round)), 'exit') // the last step of npm ci
        return seconds(cache(round))
      },
      later: round => seconds(cache(round))
    })
    for (const [which, all] of Object.entries(runs)) {
      report(
        `start.${which}`,
        all.map(({ ready }) => ready)
      )
      report(
        `start.page.${which}`,
        all.map(({ page }) => page)
      )
    }
  })
