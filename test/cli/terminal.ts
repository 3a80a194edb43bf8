// The program as a person runs it: in a pipe (without its launcher, which hands no signals on), or in a terminal of its own that `script` (Debian's bsdutils, always there) makes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

export const launcher = join(import.meta.dirname, '../../shared/cli/drover.js')
const main = join(import.meta.dirname, '../../shared/cli/main.ts')
const compiled = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] }

export interface Ended {
  code: number
  out: string
  err: string
}

export interface Running extends Promise<Ended> {
  /** Whether it said anything yet. */
  started: () => boolean
}

/** `until`: Ctrl-C as soon as this holds of what it said. */
export function drover(
  args: readonly string[],
  env: Record<string, string> = {},
  input?: string,
  until?: (out: string, err: string) => boolean
): Running {
  const child = spawn(process.execPath, ['--conditions=drover', main, ...args], {
    stdio: 'pipe',
    env: { ...compiled, HOME: '/nonexistent', ...env }
  })
  child.stdin.end(input)
  let [out, err] = ['', '']
  const said = () => until?.(out, err) && child.kill('SIGINT')
  child.stdout.setEncoding('utf8').on('data', text => ((out += text), said()))
  child.stderr.setEncoding('utf8').on('data', text => ((err += text), said()))
  const ended = (once(child, 'close') as Promise<[number]>).then(([code]) => ({ code, out, err }))
  return Object.assign(ended, { started: () => out !== '' })
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`

/** On a terminal of 100 columns: what is seen there, colours and all. */
export async function droverOnTerminal(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const command = `stty cols 100; ${[process.execPath, launcher, ...args].map(quoted).join(' ')}`
  const child = spawn('script', ['-qefc', command, '/dev/null'], {
    stdio: 'pipe',
    env: { ...compiled, HOME: '/nonexistent', TERM: 'xterm-256color', SHELL: '/bin/sh', ...env }
  })
  child.stdin.end()
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit') as Promise<[number]>])
  return { code, out, err }
}
