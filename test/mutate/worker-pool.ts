import { fork, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Change } from './mutators.ts'
import type { Task, Trial, Verdict } from './worker.ts'

export type Result = 'passed' | 'failed' | 'endless'

/** After so many the modules that were loaded again and again are too many. */
const trialsOfAWorker = 200
/** A test that neither computes nor ends for so long waits for something that does not come. */
const idleMs = 30_000

/** Tries mutants one after the other, in a process that is replaced when a mutant spoils it. */
export class Worker {
  private readonly root: string
  private readonly task: Task
  /** Of processor time: what computes for longer is taken for an endless loop, however busy the machine is. */
  private readonly seconds: number
  private child: ChildProcess | undefined
  private trials = 0

  constructor(root: string, task: Task, seconds: number) {
    this.root = root
    this.task = task
    this.seconds = seconds
  }

  async try(change: Change | null): Promise<Result> {
    try {
      return await this.ask(change)
    } catch {
      this.end() // it may have ended for something that an earlier one left behind
      return this.ask(change).catch(() => 'failed' as const)
    }
  }

  private async ask(change: Change | null): Promise<Result> {
    if (++this.trials % trialsOfAWorker === 0) this.end()
    const child = (this.child ??= this.start())
    const verdict = Promise.withResolvers<Result>()
    const stop = new AbortController()
    const number = this.trials
    const onMessage = (given: Verdict): void => {
      if (given.last) this.end()
      if (given.number === number) verdict.resolve(given.passed ? 'passed' : 'failed')
    }
    const onExit = (): void => verdict.reject(new Error('the process ended without an answer'))
    child.on('message', onMessage).once('exit', onExit)
    child.send({ number, change } satisfies Trial, err => {
      if (err) verdict.reject(err)
    })
    try {
      const result = await Promise.race([verdict.promise, this.overdue(child, stop.signal)])
      if (result === 'endless' || !child.connected) this.end()
      return result
    } finally {
      stop.abort()
      child.off('message', onMessage).off('exit', onExit)
    }
  }

  end(): void {
    this.child?.kill('SIGKILL')
    this.child = undefined
  }

  private start(): ChildProcess {
    return fork(join(import.meta.dirname, 'worker.ts'), {
      cwd: this.root,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env: {
        ...process.env,
        TAP: '1',
        TAP_TIMEOUT: '3600', // a busy machine is no mutant: what never ends is found by its processor time
        DROVER_TRIES: '0.1',
        DROVER_SHARD: '1/8',
        NODE_OPTIONS: '--conditions=drover --disable-warning=ExperimentalWarning',
        DROVER_MUTATE: JSON.stringify(this.task)
      }
    })
  }

  /** Waits until the process has computed for too long, or stands still. */
  private async overdue(child: ChildProcess, signal: AbortSignal): Promise<Result> {
    const begun = processorSeconds(child)
    let [last, lastMs] = [begun, Date.now()]
    for (;;) {
      await sleep(500, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return 'endless'
      const used = processorSeconds(child)
      if (used !== last) [last, lastMs] = [used, Date.now()]
      if (used - begun > this.seconds || Date.now() - lastMs > idleMs) return 'endless'
    }
  }
}

/** User and system time, from Linux: hundredths of seconds. */
function processorSeconds({ pid }: ChildProcess): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
    return (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    return 0 // it has just ended
  }
}
