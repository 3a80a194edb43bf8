import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { processors } from './processors.ts'

export interface Ran {
  file: string
  /** What it said, as TAP. */
  lines: string[]
  code: number | null
  ms: number
}

export interface PoolOptions {
  root: string
  /** Begun in this order, but for those that have to wait for their servers. */
  files: readonly string[]
  /** `never`: it cannot be run at all. */
  ready: (file: string) => 'yes' | 'not yet' | 'never'
  env: () => Record<string, string>
  /** Files that want the same thing for themselves run one after the other. */
  alone?: (file: string) => string | undefined
  /** So many run whatever the processors do, and up to `most` while these have little to do. */
  least: number
  most: number
  onEnd: (ran: Ran) => void
}

const backstopMs = 75 * 60_000 // tap ends a file that takes too long; this one ends what does not even listen to tap

/** Runs each file as a process of its own, side by side. */
export async function runFiles(options: PoolOptions): Promise<void> {
  const { root, files, ready, env, alone = () => undefined, least, most, onEnd } = options
  const leash = startLeash()
  const load = processors()
  const waiting = new Set(files)
  const running = new Set<Promise<void>>()
  const taken = new Set<string>()
  const next = (): string | undefined => {
    for (const file of waiting) {
      const state = ready(file)
      if (state === 'not yet' || taken.has(alone(file) ?? '')) continue
      waiting.delete(file)
      if (state === 'yes') return file
    }
    return undefined
  }
  const begin = (file: string): void => {
    const wanted = alone(file)
    if (wanted !== undefined) taken.add(wanted)
    const run = runFile(root, file, env(), leash).then(onEnd)
    const ended = run.finally(() => {
      running.delete(ended)
      if (wanted !== undefined) taken.delete(wanted)
    })
    running.add(ended)
    load.occupied()
  }
  while (waiting.size > 0 || running.size > 0) {
    const room = running.size < least || (running.size < most && load.idle())
    const file = room ? next() : undefined
    if (file !== undefined) begin(file)
    else await Promise.race([...running, sleep(250)])
  }
  leash.stdin?.end()
}

function startLeash(): ChildProcess {
  // In a group of its own: a signal to the runner's group ends the runner, and that is what this one waits for.
  return spawn(process.execPath, [join(import.meta.dirname, 'leash.ts')], {
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit']
  })
}

async function runFile(root: string, file: string, env: Record<string, string>, leash: ChildProcess): Promise<Ran> {
  const begun = Date.now()
  // Not by `tap run`: its loader takes longer to start than most files take to run. And without source maps, which are a quarter of a
  // file's start: Node strips types in place, so that lines and columns are those of the source.
  const child = spawn(process.execPath, [file], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TAP: '1', TAP_TIMEOUT: '300', ...env }
  })
  leash.stdin?.write(`+${child.pid}\n`)
  const backstop = setTimeout(() => child.kill('SIGKILL'), backstopMs)
  const lines: string[] = []
  createInterface(child.stdout).on('line', line => void lines.push(line))
  const [code] = (await once(child, 'close')) as [number | null]
  clearTimeout(backstop)
  leash.stdin?.write(`-${child.pid}\n`)
  return { file, lines, code, ms: Date.now() - begun }
}
