import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { processors } from './processors.ts'
import type { Job } from './suite.ts'

export interface Ran {
  job: Job
  /** What it printed, as TAP. */
  lines: string[]
  code: number | null
  ms: number
  /** Why the runner ended it. */
  endedBy?: string
}

/** Something of which so many files at once may have one. */
export interface Places {
  name: string
  count: number
}

export interface PoolOptions {
  root: string
  /** Begun in this order, but for those that have to wait for their servers. */
  jobs: readonly Job[]
  /** `never`: it cannot be run at all. */
  ready: (job: Job) => 'yes' | 'not yet' | 'never'
  env: () => Record<string, string>
  /** Files that want a place of the same thing wait for each other, not for those that want none. */
  places?: (job: Job) => Places | undefined
  /** So many run whatever the processors do, and up to `most` while these have little to do. */
  least: number
  most: number
  /** For files that set no limit themselves. */
  limitMs?: number
  /** tap ends a file at its limit; so much later the runner ends what does not even listen to tap. */
  graceMs?: number
  /** How long something that a file started may hold its output open after its end. */
  leftoverMs?: number
  onEnd: (ran: Ran) => void | Promise<void>
}

/** Runs each job as a process of its own, side by side. */
export async function runJobs(options: PoolOptions): Promise<void> {
  const { jobs, ready, places = () => undefined, least, most, onEnd } = options
  const leash = startLeash()
  const load = processors()
  const waiting = new Set(jobs)
  const running = new Set<Promise<void>>()
  const taken = new Map<string, number>()
  const isFull = (wanted: Places | undefined): boolean => wanted !== undefined && (taken.get(wanted.name) ?? 0) >= wanted.count
  const next = (): Job | undefined => {
    for (const job of waiting) {
      const state = ready(job)
      if (state === 'not yet' || (state === 'yes' && isFull(places(job)))) continue
      waiting.delete(job)
      if (state === 'yes') return job
    }
    return undefined
  }
  const begin = (job: Job): void => {
    const name = places(job)?.name
    const count = (by: number): void => {
      if (name !== undefined) taken.set(name, (taken.get(name) ?? 0) + by)
    }
    count(1)
    const ended = runJob(options, job, leash)
      .then(onEnd)
      .finally(() => {
        running.delete(ended)
        count(-1)
      })
    running.add(ended)
    load.occupied()
  }
  try {
    while (waiting.size > 0 || running.size > 0) {
      const room = running.size < least || (running.size < most && load.idle())
      const job = room ? next() : undefined
      if (job !== undefined) begin(job)
      else await Promise.race([...running, sleep(250)])
    }
  } finally {
    leash.stdin?.end()
  }
}

/** Kills the process groups that are told to it when this process is gone, however it went. */
export function startLeash(): ChildProcess {
  // In a group of its own: a signal to the runner's group ends the runner, and that is what this one waits for.
  return spawn(process.execPath, [join(import.meta.dirname, 'leash.ts')], {
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit']
  })
}

async function runJob(options: PoolOptions, job: Job, leash: ChildProcess): Promise<Ran> {
  const { root, env, limitMs = 300_000, graceMs = 60_000, leftoverMs = 10_000 } = options
  const begun = Date.now()
  // Not by `tap run`: its loader takes longer to start than most files take to run. And without source maps, which are a quarter of a
  // file's start: Node strips types in place, so that lines and columns are those of the source.
  const child = spawn(process.execPath, [job.file.path], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      TAP: '1',
      TAP_TIMEOUT: String(limitMs / 1000),
      ...(job.shard !== undefined && { DROVER_SHARD: job.shard }),
      ...env()
    }
  })
  leash.stdin?.write(`+${child.pid}\n`)
  let endedBy: string | undefined
  const allowedMs = Math.max(limitMs, job.file.limitMs) + graceMs
  const backstop = setTimeout(() => {
    endedBy = `it did not end within ${Math.round(allowedMs / 1000)} s`
    killGroup(child)
  }, allowedMs)
  let leftover: NodeJS.Timeout | undefined
  child.once('exit', () => {
    leftover = setTimeout(() => {
      endedBy = 'it ended, but something that it started holds its output open'
      killGroup(child)
      child.stdout.destroy()
    }, leftoverMs)
  })
  const lines: string[] = []
  createInterface(child.stdout).on('line', line => void lines.push(line))
  const [code] = (await once(child, 'close')) as [number | null]
  clearTimeout(backstop)
  clearTimeout(leftover)
  if (endedBy === undefined && !(await isGone(child, leftoverMs))) {
    endedBy = 'it ended, but something that it started still runs'
    killGroup(child)
  }
  leash.stdin?.write(`-${child.pid}\n`)
  return { job, lines, code, ms: Date.now() - begun, ...(endedBy !== undefined && { endedBy }) }
}

/** With all that it started and did not put into a group of its own. */
export const killGroup = (child: ChildProcess): void => void signalGroup(child, 'SIGKILL')

/** False: nobody is left in the group. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  if (pid === undefined) return false
  try {
    return process.kill(-pid, signal)
  } catch (err) {
    const { code } = err as NodeJS.ErrnoException
    if (code !== 'ESRCH' && code !== 'EPERM') throw err
    return code === 'EPERM' // somebody else's, and still there
  }
}

/** What is about to end may do so. */
async function isGone(child: ChildProcess, withinMs: number): Promise<boolean> {
  for (const until = Date.now() + withinMs; signalGroup(child, 0); await sleep(50)) if (Date.now() > until) return false
  return true
}
