import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'
import { bundle } from '../../shared/runtime/bundle.ts'
import { warm } from '../../shared/runtime/warm.ts'

const root = join(import.meta.dirname, '../..')

export interface Shipped {
  url: string
  pid: number
  folder: string
  /** Asks it to stop; its exit code. */
  stop: () => Promise<number | null>
}

/**
 * A function or agent as it ships: its bundle and compile cache in a folder of their own, and nothing else of this tree. A command before it,
 * as one that sets its limits, has to become it (exec).
 */
export async function startBundle(
  t: Test,
  entry: string,
  env: Record<string, string>,
  before: readonly string[] = []
): Promise<Shipped> {
  const folder = await mkdtemp(join(tmpdir(), 'b-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const file = await bundle(join(root, entry), folder)
  const cache = join(folder, '.cache')
  await warm(file, cache)
  const [command, ...args] = [...before, process.execPath, file]
  const child = spawn(command, args, {
    cwd: folder,
    env: {
      ...(before.length > 0 && { PATH: process.env['PATH'] }),
      PORT: '0',
      HOST: '127.0.0.1',
      NODE_COMPILE_CACHE: cache,
      ...env
    },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const exited = once(child, 'exit') as Promise<[number | null]>
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
    child.kill(signal)
    return (await exited)[0]
  }
  t.teardown(() => stop('SIGKILL'))
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', line => {
      const { url, port } = JSON.parse(line) as { url?: string; port?: number } // a function says its URL, an agent its port
      if (url !== undefined || port !== undefined) resolve(url ?? `http://127.0.0.1:${port}`)
    })
    void exited.then(([code]) => reject(new Error(`${entry} ended with ${code} before it listened`)))
  })
  return { url, pid: child.pid ?? 0, folder, stop }
}
