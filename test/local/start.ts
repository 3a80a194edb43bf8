// Runs `npm start` as a person would: the program itself, its output, its signals.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Test } from 'tap'

// As `npm start` has it: most of a start is loading.
const cache = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'v8')
const main = join(import.meta.dirname, '..', '..', 'shared', 'local', 'main.ts')

export interface Started {
  output: () => string
  /** The part of the output that matches, as soon as it is there; an error when the program ends before. */
  says: (pattern: RegExp) => Promise<RegExpExecArray>
  /** The exit code after a signal. */
  end: (signal: NodeJS.Signals) => Promise<number | null>
  exited: Promise<number | null>
}

export function start(t: Test, ...args: string[]): Started {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', '--conditions=drover', main, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? cache, HOME: '/nonexistent' }
  })
  let output = ''
  let waiting: Array<() => void> = []
  const wake = () => {
    for (const resolve of waiting.splice(0)) resolve()
  }
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', text => ((output += text), wake()))
  const exited = once(child, 'close').then(([code]) => (wake(), code as number | null))
  t.teardown(async () => {
    child.kill('SIGKILL')
    await exited
  })
  return {
    output: () => output,
    exited,
    async says(pattern) {
      for (;;) {
        const found = pattern.exec(output)
        if (found) return found
        if (child.exitCode !== null) throw new Error(`ended without saying ${pattern}:\n${output}`)
        await new Promise<void>(resolve => waiting.push(resolve))
      }
    },
    end(signal) {
      child.kill(signal)
      return exited
    }
  }
}
