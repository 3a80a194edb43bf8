// Real ovsdb-servers, stand-alone or as a RAFT cluster. No root needed.
import type { ChildProcess } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually } from '../eventually.ts'
import { type Teardown, accepting, endProcess, folder, output, startProcess } from './daemon.ts'

export const testSchema = join(import.meta.dirname, 'test.ovsschema')

export interface OvsdbOptions {
  readonly schema?: string
  /** Also on tcp, or on TLS with `server.key`, `server.crt` and `ca.crt` of this folder. */
  readonly tcp?: boolean
  readonly tlsFolder?: string
  /** The name of another folder's server to stand beside. */
  readonly name?: string
}

export interface OvsdbServer {
  readonly dir: string
  readonly unix: string
  /** On the port that the kernel gave it at its last start. */
  readonly tcp: string
  readonly ssl: string
  /** Starts it on the same database; resolves when it accepts. */
  start(): Promise<void>
  stop(signal?: NodeJS.Signals): Promise<void>
  signal(signal: NodeJS.Signals): void
  /** A command to its control socket. */
  control(...command: string[]): Promise<string>
}

export async function startOvsdb(t: Teardown, { schema = testSchema, tcp, tlsFolder }: OvsdbOptions = {}): Promise<OvsdbServer> {
  const dir = await folder(t)
  await output('ovsdb-tool', ['create', join(dir, 's.db'), schema])
  const tls =
    tlsFolder && ['private-key=server.key', 'certificate=server.crt', 'ca-cert=ca.crt'].map(file => tlsOption(file, tlsFolder))
  const server = serverIn(t, dir, 's', [
    ...(tcp ? ['--remote=ptcp:0:127.0.0.1'] : []),
    ...(tls ? ['--remote=pssl:0:127.0.0.1', ...tls] : [])
  ])
  await server.start()
  return server
}

const tlsOption = (option: string, from: string) => `--${option.replace('=', `=${from}/`)}`

/** A cluster that has elected its leader among `size` servers. */
export async function startCluster(t: Teardown, size: number, schema: string = testSchema): Promise<OvsdbServer[]> {
  const dir = await folder(t)
  const raft = (at: number) => `unix:${join(dir, `r${at}`)}`
  const servers = Array.from({ length: size }, (_, at) => serverIn(t, dir, `s${at}`, []))
  for (const [at, server] of servers.entries()) {
    const file = join(dir, `s${at}.db`)
    const create = at === 0 ? ['create-cluster', file, schema, raft(0)] : ['join-cluster', file, 'Test', raft(at), raft(0)]
    await output('ovsdb-tool', create)
    await server.start()
    await output('ovsdb-client', ['-t', '20', 'wait', server.unix, 'Test', 'connected'])
  }
  return servers
}

function serverIn(t: Teardown, dir: string, name: string, more: readonly string[]): OvsdbServer {
  const socket = join(dir, `${name}.sock`)
  const control = join(dir, `${name}.ctl`)
  const log = join(dir, `${name}.log`)
  let child: ChildProcess | undefined
  let port = ''
  /** Of every start; its log is the only place where it names the port of a remote of its command line. */
  const ports = async (): Promise<string[]> => {
    const lines = (await readFile(log, 'utf8').catch(() => '')).matchAll(/: listening on port (\d+)$/gm)
    return Array.from(lines, ([, found = '']) => found)
  }
  const stop = async (signal: NodeJS.Signals = 'SIGKILL') => {
    if (child) await endProcess(child, signal)
  }
  t.teardown(() => stop())
  return {
    dir,
    unix: `unix:${socket}`,
    get tcp() {
      return `tcp:127.0.0.1:${port}`
    },
    get ssl() {
      return `ssl:127.0.0.1:${port}`
    },
    stop,
    signal: signal => void child?.kill(signal),
    control: (...command) => output('ovs-appctl', ['-T', '10', '-t', control, ...command]),
    start: async () => {
      const where = [`--remote=punix:${socket}`, `--unixctl=${control}`, '-vconsole:off', `--log-file=${log}`, '--no-chdir']
      const known = more.length > 0 ? (await ports()).length : 0
      child = startProcess('ovsdb-server', [join(dir, `${name}.db`), ...where, ...more])
      await accepting(socket, child)
      if (more.length > 0) port = await eventually('its port', async () => (await ports())[known])
    }
  }
}
