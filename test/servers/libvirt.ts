// Real libvirtd and QEMU, as many as wanted, each in namespaces of its own; everything ends with the test, or with its process
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type ConnectOptions, type Credentials } from 'node-libvirt'
import { cacheFolder } from './cache.ts'

export { prepare } from './libvirt/prepare.ts'

const scripts = join(import.meta.dirname, 'libvirt')
const knownCapabilities = cacheFolder('qemu-capabilities') // what libvirtd found out about QEMU: 1 to 8 s the first time

export interface NodeOptions {
  readonly name: string
  /** Supervised: libvirtd comes back when it is killed, and finds its guests again. */
  readonly restart?: boolean
  /** Lines added to libvirtd.conf; they may use the lab's ports. */
  readonly conf?: string
  /** A command inside the node, before libvirtd starts. */
  readonly before?: string
}

export interface LabOptions {
  readonly nodes?: readonly NodeOptions[]
  /** The test's own network: tcp on 127.0.0.1 can be reached, and ports must be free ones. */
  readonly hostNetwork?: boolean
  /** For nodes that want a password before they answer. */
  readonly credentials?: Credentials
}

export interface LibvirtNode {
  readonly socket: string
  readonly port: number
  /** qemu+unix */
  readonly uri: string
  /** test+unix: libvirt's test driver in the same daemon */
  readonly testUri: string
  /** A command by the shell, inside the node. */
  readonly run: (command: string) => string
  /** virsh on the QEMU driver */
  readonly virsh: (command: string) => string
  /** A signal to libvirtd alone; its guests stay. */
  readonly kill: (signal: 'KILL' | 'STOP' | 'CONT') => void
}

export interface Lab {
  readonly dir: string
  readonly nodes: readonly LibvirtNode[]
  /** A command by the shell, inside the lab: a server beside libvirtd, say. */
  readonly run: (command: string) => string
}

interface Teardown {
  teardown(fn: () => Promise<void> | void): void
}

export async function startLibvirt(
  t: Teardown,
  { nodes: wanted = [{ name: 'a' }], hostNetwork = false, credentials }: LabOptions = {}
): Promise<Lab> {
  const dir = await mkdtemp(join(tmpdir(), 'd-')) // short: a unix socket's path ends at 108 bytes
  const env: NodeJS.ProcessEnv = { ...process.env, DIR: dir, SCRIPTS: scripts, NET: hostNetwork ? 'host' : '' }
  if (existsSync(knownCapabilities)) env['CAPS'] = knownCapabilities
  const hosts = wanted.map(({ name }) => `127.0.0.1 ${name}`).join('\n') // a moving guest looks for its destination by name
  const ports = await Promise.all(wanted.map(async (_, at) => (hostNetwork ? freePort() : 16_509 + at)))

  const lab = spawn(
    join(scripts, 'lab.sh'),
    ['bash', '-ec', wanted.map((node, at) => startCommand(node, ports[at] ?? 0, at, hosts)).join('\n')],
    {
      env,
      stdio: 'ignore'
    }
  )
  t.teardown(async () => {
    lab.kill('SIGKILL')
    if (lab.exitCode === null && lab.signalCode === null) await once(lab, 'exit')
    await keepCapabilities(join(dir, wanted[0]?.name ?? '', 'cache'))
    await rm(dir, { recursive: true, maxRetries: 5, retryDelay: 50 }) // the last of the killed may still be closing its files
  })
  await once(lab, 'spawn')

  const nodes = wanted.map((node, at) => handle(String(lab.pid), dir, node.name, ports[at] ?? 0, env))
  for (const node of nodes) await answering(node.uri, credentials && { credentials })
  return { dir, nodes, run: command => inside(String(lab.pid), env, command) }
}

function startCommand({ name, restart, conf = '', before = '' }: NodeOptions, port: number, at: number, hosts: string): string {
  const uuid = `aaaaaaaa-0000-4000-8000-${String(at + 1).padStart(12, '0')}`
  const settings = { RESTART: restart ? '1' : '', LIBVIRTD_CONF: conf, PRE: before || 'true', HOSTS: hosts }
  const assigned = Object.entries(settings).map(([key, value]) => `${key}='${value.replaceAll("'", `'\\''`)}'`)
  return `${assigned.join(' ')} $SCRIPTS/node.sh ${name} ${port} ${uuid} > $DIR/${name}.log 2>&1 &`
}

function handle(lab: string, dir: string, name: string, port: number, env: NodeJS.ProcessEnv): LibvirtNode {
  const socket = join(dir, name, 'run', 'libvirt-sock')
  const uri = `qemu+unix:///system?socket=${socket}`
  // the pid in the file is one of the lab, so that a node is entered from there
  const enter = `nsenter -t $(pgrep -P $(cat $DIR/${name}/pid)) -m -p -u sh -ec "$COMMAND"`
  const run = (command: string) => inside(lab, { ...env, COMMAND: command }, enter)
  return {
    socket,
    port,
    uri,
    testUri: `test+unix:///default?socket=${socket}`,
    run,
    virsh: command => execFileSync('sh', ['-ec', `virsh -q -c '${uri}' ${command}`], { encoding: 'utf8', env, stdio: 'pipe' }),
    kill: signal => void run(`kill -${signal} $(cat /run/libvirt/libvirtd.pid)`)
  }
}

/** By the shell, in the namespaces that this `unshare` has made. */
function inside(unshare: string, env: NodeJS.ProcessEnv, command: string): string {
  const init = execFileSync('pgrep', ['-P', unshare], { encoding: 'utf8' }).trim()
  return execFileSync('nsenter', ['-t', init, '-n', '-m', '-p', 'sh', '-ec', command], { env, encoding: 'utf8', stdio: 'pipe' })
}

/** The socket accepts before the drivers are there: only an open connection is proof. */
export async function answering(uri: string, options: ConnectOptions = {}, withinMs = 20_000): Promise<void> {
  for (const until = Date.now() + withinMs; ; await sleep(20)) {
    try {
      const virt = await connect(uri, { connectTimeoutMs: withinMs, ...options })
      return await virt.close()
    } catch (err) {
      if (Date.now() > until) throw err
    }
  }
}

async function keepCapabilities(cache: string): Promise<void> {
  if (existsSync(knownCapabilities) || !existsSync(join(cache, 'qemu', 'capabilities'))) return
  await mkdir(dirname(knownCapabilities), { recursive: true })
  const copy = await mkdtemp(`${knownCapabilities}-`)
  await cp(cache, copy, { recursive: true })
  await rename(copy, knownCapabilities).catch(() => rm(copy, { recursive: true })) // another process was quicker
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address ? address.port : 0
}
