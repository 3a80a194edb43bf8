import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

const deadlineMs = 60_000
// Nobody reacts to it, but it goes the way of every event up to that point.
const headers = {
  'ce-specversion': '1.0',
  'ce-id': 'warm',
  'ce-type': 'warm',
  'ce-source': '/warm',
  'content-type': 'application/json'
}

interface WarmOptions {
  /** Node's own, before the file. */
  flags?: readonly string[]
  args?: readonly string[]
  env?: Record<string, string>
  cwd?: string
}

/**
 * Fills V8's compile cache by a start that goes as far as it can without a cluster. Node writes the cache when the process
 * ends by itself, so it is asked to stop and not killed; what it says on the way, and how it exits, is of no matter here.
 */
export async function warm(file: string, cache: string, options: WarmOptions = {}): Promise<void> {
  const { flags = [], args = [], env = {}, cwd } = options
  const child = spawn(process.execPath, [...flags, file, ...args], {
    env: { NODE_COMPILE_CACHE: cache, PORT: '0', HOST: '127.0.0.1', ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: deadlineMs,
    ...(cwd !== undefined && { cwd })
  })
  const exited = once(child, 'exit')
  for await (const line of createInterface(child.stdout)) {
    const port = portIn(line)
    if (port === undefined) continue
    await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: '{}' })
    await fetch(`http://127.0.0.1:${port}/metrics`).then(response => response.text())
    child.kill('SIGTERM')
  }
  await exited
}

// A function says its URL, an agent its port.
function portIn(line: string): string | undefined {
  const [, port] = /"(?:url":"http:[^"]+:|port":)(\d+)/.exec(line) ?? []
  return port
}
