// Servers of a test in a folder of their own, children of a guard that outlives nobody.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import type { Answer, Command } from './guard.ts'

export interface Guarded<Part extends string> {
  folder: string
  /** Does nothing while it runs. */
  start: (part: Part, command: string[]) => Promise<void>
  /** With SIGKILL; over when the process is gone. */
  kill: (part: Part) => Promise<void>
  /** Polls until the test holds; what the part wrote is told when it never does. */
  until: (part: Part, test: () => Promise<boolean>) => Promise<void>
  stop: () => Promise<void>
}

export async function guarded<Part extends string>(): Promise<Guarded<Part>> {
  const folder = await mkdtemp(join(tmpdir(), 'dk-')) // short: a unix socket path ends at 108 bytes
  await mkdir(join(folder, 'log'))
  const guard = spawn(process.execPath, [join(import.meta.dirname, 'guard.ts'), folder], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit']
  })
  const running = new Set<string>()
  const waiting = new Map<string, (err?: Error) => void>()
  createInterface(guard.stdout).on('line', line => {
    const answer = JSON.parse(line) as Answer
    if ('started' in answer) {
      running.add(answer.started)
      settle('started', answer.started)
    } else {
      running.delete(answer.exited)
      settle('exited', answer.exited)
      settle('started', answer.exited, new Error(`${answer.exited} does not start`))
    }
  })
  guard.once('exit', () => {
    for (const done of waiting.values()) done(new Error('the process that keeps the servers ended'))
  })
  function settle(verb: 'started' | 'exited', part: string, err?: Error): void {
    waiting.get(`${verb} ${part}`)?.(err)
    waiting.delete(`${verb} ${part}`)
  }
  const send = (command: Command, verb: 'started' | 'exited', part: Part) =>
    new Promise<void>((resolve, reject) => {
      waiting.set(`${verb} ${part}`, err => (err ? reject(err) : resolve()))
      guard.stdin.write(`${JSON.stringify(command)}\n`)
    })
  const log = (part: Part): string => join(folder, 'log', `${part}.log`)
  return {
    folder,
    start: async (part, command) => {
      if (!running.has(part)) await send({ start: part, command, log: log(part) }, 'started', part)
    },
    kill: async part => {
      if (running.has(part)) await send({ kill: part, signal: 'SIGKILL' }, 'exited', part)
    },
    async until(part, test) {
      const deadline = Date.now() + 120_000
      while (!(await test())) {
        if (Date.now() > deadline)
          throw new Error(`${part} is not ready after 120 s:\n${(await readFile(log(part), 'utf8')).slice(-2000)}`)
        await delay(20)
      }
    },
    async stop() {
      if (guard.exitCode !== null || guard.signalCode !== null) return
      guard.stdin.end()
      await once(guard, 'exit')
    }
  }
}

export function answers(url: string, ca: string | Buffer, token: string): Promise<boolean> {
  return new Promise(resolve => {
    const call = request(url, { ca, headers: { authorization: `Bearer ${token}` }, timeout: 2000 }, response => {
      response.resume().on('end', () => resolve(response.statusCode === 200))
    })
    call.on('error', () => resolve(false)).on('timeout', () => call.destroy())
    call.end()
  })
}
