// Processes of a test: in a folder of their own, and gone with it, however the test ends
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

export interface Teardown {
  teardown(fn: () => Promise<void> | void): void
}

const run = promisify(execFile)
const { PATH, OVS_HOME } = process.env // another release than the installed one: ../ovs-newer.ts
export const env: NodeJS.ProcessEnv = { ...process.env, PATH: `${OVS_HOME ? `${OVS_HOME}/bin:` : ''}${PATH}:/usr/sbin:/usr/bin` }

/** What the command prints. */
export const output = async (command: string, args: readonly string[]): Promise<string> =>
  (await run(command, args, { env })).stdout

export async function folder(t: Teardown): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'd-')) // short: a unix socket's path ends at 108 bytes
  t.teardown(() => rm(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }))
  return dir
}

/** The kernel kills it when this process dies, kill -9 included. */
export function startProcess(command: string, args: readonly string[]): ChildProcess {
  return spawn('setpriv', ['--pdeathsig', 'KILL', command, ...args], { env, stdio: 'ignore' })
}

export async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill(signal)
  await exit
}

/** Until somebody accepts on the socket; fails when the process ends before that. */
export async function accepting(path: string, child: ChildProcess, withinMs = 60_000): Promise<void> {
  for (const until = Date.now() + withinMs; !(await accepts(path)); await sleep(5)) {
    if (child.exitCode !== null) throw new Error(`${child.spawnargs.join(' ')} ended with ${child.exitCode}`)
    if (Date.now() > until) throw new Error(`nobody accepts on ${path}`)
  }
}

function accepts(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect(path)
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  return promise.finally(() => socket.destroy())
}
