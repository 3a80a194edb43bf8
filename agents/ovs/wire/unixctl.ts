// What ovs-appctl speaks: JSON-RPC 1.0 over a unix socket, one request for each connection, params are strings (OV-18).
import { connect } from 'node:net'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { JsonStream } from 'ovsdb-client'

const brief = 1000
const trace = 5000
const dump = 10_000

/** All that can be asked, and how long an answer may take (OV-20). Nothing here changes anything. */
export const commands = {
  'ovs-vswitchd': {
    version: brief,
    'list-commands': brief,
    'bond/show': brief,
    'lacp/show': brief,
    'lacp/show-stats': brief,
    'fdb/show': dump,
    'bridge/dump-flows': dump,
    'ofproto/trace': trace,
    'ofproto/list-tunnels': brief,
    'dpif/show': brief,
    'dpctl/show': brief,
    'upcall/show': brief,
    'coverage/show': brief,
    'memory/show': brief,
    'dpif-netdev/pmd-rxq-show': brief,
    'dpif-netdev/pmd-perf-show': brief
  },
  'ovsdb-server': { version: brief },
  'ovn-controller': {
    version: brief,
    'list-commands': brief,
    'connection-status': brief,
    'ct-zone-list': brief,
    'inc-engine/show-stats': brief,
    'lflow-cache/show-stats': brief,
    'debug/status': brief
  }
} as const
export type Daemon = keyof typeof commands
export type CommandOf<D extends Daemon> = keyof (typeof commands)[D] & string

export type UnixctlErrorCode =
  | 'no-folder' // its run directory cannot be read
  | 'not-running' // no pid, or nobody listens
  | 'timeout'
  | 'too-large'
  | 'protocol'
  | 'rejected' // the daemon's own words

export class UnixctlError extends Error {
  override readonly name = 'UnixctlError'
  readonly code: UnixctlErrorCode
  readonly retryable: boolean
  constructor(code: UnixctlErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
    this.retryable = code === 'not-running' || code === 'timeout'
  }
}

const maxReplyBytes = 16 * 1024 * 1024
const hasCode = (error: unknown, ...codes: string[]) =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code))

/** The pid is read each time, since a restart changes it (OV-19). */
export async function pidOf(folder: string, daemon: Daemon): Promise<number> {
  try {
    return Number(await readFile(join(folder, `${daemon}.pid`), 'utf8'))
  } catch (cause) {
    const known = await readFile(folder).catch(error => hasCode(error, 'EISDIR')) // what is there is a folder, then
    throw known === true
      ? new UnixctlError('not-running', `${daemon} has no pid file`, cause)
      : new UnixctlError('no-folder', `${folder} cannot be read`, cause)
  }
}

export async function ask<D extends Daemon>(
  folder: string,
  daemon: D,
  command: CommandOf<D>,
  args: readonly string[] = []
): Promise<string> {
  const timeouts: Readonly<Record<string, number>> = commands[daemon]
  const pid = await pidOf(folder, daemon)
  return exchange(join(folder, `${daemon}.${pid}.ctl`), command, args, timeouts[command] ?? brief)
}

function exchange(path: string, method: string, params: readonly string[], timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const stream = new JsonStream(maxReplyBytes)
    const socket = connect({ path })
    let settled = false
    const settle = (act: () => void) => {
      if (settled) return // the end of the connection follows the answer
      settled = true
      clearTimeout(timer)
      socket.destroy()
      act()
    }
    const fail = (code: UnixctlErrorCode, message: string, cause?: unknown) =>
      settle(() => reject(new UnixctlError(code, message, cause)))
    const timer = setTimeout(() => fail('timeout', `no answer to ${method} within ${timeoutMs} ms`), timeoutMs)
    socket.on('error', cause =>
      hasCode(cause, 'EAGAIN') // a frozen daemon takes no more callers once its queue is full of those that gave up
        ? fail('timeout', `${path} takes no more callers`, cause)
        : fail('not-running', `nobody answers at ${path}`, cause)
    )
    socket.on('close', () => fail('not-running', `${path} was closed before the answer`))
    socket.on('data', chunk => {
      try {
        const [reply] = stream.push(chunk)
        if (!reply) return
        const answer = readReply(reply.text)
        settle(() => resolve(answer))
      } catch (error) {
        const code = hasCode(error, 'too-large') ? 'too-large' : 'protocol'
        if (error instanceof UnixctlError) settle(() => reject(error))
        else fail(code, `what ${path} answers to ${method} makes no sense`, error)
      }
    })
    socket.write(JSON.stringify({ id: 0, method, params }))
  })
}

/** A failure has `error` and may lack `result` (OV-18). */
export function readReply(text: string): string {
  const { result, error } = JSON.parse(text) as { result?: unknown; error?: unknown }
  if (typeof error === 'string') throw new UnixctlError('rejected', error.trim())
  if (typeof result !== 'string') throw new UnixctlError('protocol', 'a reply without a text')
  return result
}
