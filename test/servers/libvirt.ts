// Real libvirtd and QEMU, as many as wanted, each in namespaces of its own; everything ends with the test, or with its process
import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { connect, type ConnectOptions, type Credentials } from 'node-libvirt'
import { cacheFolder } from './cache.ts'

export { prepare } from './libvirt/prepare.ts'

const scripts = join(import.meta.dirname, 'libvirt')
const knownCapabilities = cacheFolder('qemu-capabilities') // what libvirtd found out about QEMU: 1 to 8 s the first time

export interface NodeOptions {
  readonly name: string
  /** Supervised: libvirtd comes back when it is killed, and finds its guests again. */
  readonly restart?: boolean
  /** Lines added to libvirtd.conf. */
  readonly conf?: string
  /** A command inside the node, before libvirtd starts. */
  readonly before?: string
}

export interface LabOptions {
  readonly nodes?: readonly NodeOptions[]
  /** The test's own network: tcp on 127.0.0.1 can be reached. libvirtd takes port 0, so that the kernel finds a free one. */
  readonly hostNetwork?: boolean
  /** For nodes that want a password before they answer. */
  readonly credentials?: Credentials
}

export interface LibvirtNode {
  readonly socket: string
  /** tcp on 127.0.0.1 */
  readonly port: number
  /** TLS, where libvirtd.conf asks for it on port 0 of the test's own network */
  readonly tlsPort: number
  /** qemu+unix */
  readonly uri: string
  /** test+unix: libvirt's test driver in the same daemon */
  readonly testUri: string
  /** A command by the shell, inside the node. */
  readonly run: (command: string) => string
  /** virsh on the QEMU driver */
  readonly virsh: (command: string) => string
  /** The same without holding up this process, where something else in it must go on meanwhile */
  readonly runAsync: (command: string) => Promise<string>
  readonly virshAsync: (command: string) => Promise<string>
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
  const port = (at: number) => (hostNetwork ? 0 : 16_509 + at) // in a network of its own every port is free

  const up = wanted.map((node, at) => startCommand(node, port(at), at, hosts)).join('\n')
  const lab = spawn(join(scripts, 'lab.sh'), ['bash', '-ec', up], { env, stdio: 'ignore' })
  t.teardown(async () => {
    lab.kill('SIGKILL')
    if (lab.exitCode === null && lab.signalCode === null) await once(lab, 'exit')
    await keepCapabilities(join(dir, wanted[0]?.name ?? '', 'cache'))
    await rm(dir, { recursive: true, maxRetries: 5, retryDelay: 50 }) // the last of the killed may still be closing its files
  })
  await once(lab, 'spawn')

  const handles = wanted.map(({ name }) => handle(String(lab.pid), dir, name, env))
  for (const { uri } of handles) await answering(uri, credentials && { credentials })
  const nodes = handles.map((node, at) => {
    const [tcp, tls] = hostNetwork ? listening(node) : [port(at)]
    return Object.assign(node, { port: tcp ?? 0, tlsPort: tls ?? 0 })
  })
  return { dir, nodes, run: command => inside(String(lab.pid), env, command) }
}

function startCommand({ name, restart, conf = '', before = '' }: NodeOptions, port: number, at: number, hosts: string): string {
  const uuid = `aaaaaaaa-0000-4000-8000-${String(at + 1).padStart(12, '0')}`
  const settings = { RESTART: restart ? '1' : '', LIBVIRTD_CONF: conf, PRE: before || 'true', HOSTS: hosts }
  const assigned = Object.entries(settings).map(([key, value]) => `${key}='${value.replaceAll("'", `'\\''`)}'`)
  return `${assigned.join(' ')} $SCRIPTS/node.sh ${name} ${port} ${uuid} > $DIR/${name}.log 2>&1 &`
}

function handle(lab: string, dir: string, name: string, env: NodeJS.ProcessEnv): Omit<LibvirtNode, 'port' | 'tlsPort'> {
  const socket = join(dir, name, 'run', 'libvirt-sock')
  const uri = `qemu+unix:///system?socket=${socket}`
  // the pid in the file is one of the lab, so that a node is entered from there
  const enter = `nsenter -t $(pgrep -P $(cat $DIR/${name}/pid)) -m -p -u sh -ec "$COMMAND"`
  const run = (command: string) => inside(lab, { ...env, COMMAND: command }, enter)
  const virsh = (command: string) => ['-ec', `virsh -q -c '${uri}' ${command}`]
  return {
    socket,
    uri,
    testUri: `test+unix:///default?socket=${socket}`,
    run,
    virsh: command => execFileSync('sh', virsh(command), { encoding: 'utf8', env, stdio: 'pipe' }),
    runAsync: async command => (await execute('nsenter', inLab(lab, enter), { env: { ...env, COMMAND: command } })).stdout,
    virshAsync: async command => (await execute('sh', virsh(command), { env })).stdout,
    kill: signal => void run(`kill -${signal} $(cat /run/libvirt/libvirtd.pid)`)
  }
}

const execute = promisify(execFile)

/** By the shell, in the namespaces that this `unshare` has made. */
const inside = (unshare: string, env: NodeJS.ProcessEnv, command: string): string =>
  execFileSync('nsenter', inLab(unshare, command), { env, encoding: 'utf8', stdio: 'pipe' })

function inLab(unshare: string, command: string): string[] {
  const init = execFileSync('pgrep', ['-P', unshare], { encoding: 'utf8' }).trim()
  return ['-t', init, '-n', '-m', '-p', 'sh', '-ec', command]
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

/** The ports that libvirtd listens on, in the order of its sockets: it opens tcp before TLS. */
function listening({ run }: Pick<LibvirtNode, 'run'>): number[] {
  const lines = run('ss -Hltnp').matchAll(/:(\d+) .*"libvirtd",pid=\d+,fd=(\d+)/g)
  return Array.from(lines, ([, port, fd]) => ({ port: Number(port), fd: Number(fd) }))
    .toSorted((one, other) => one.fd - other.fd)
    .map(({ port }) => port)
}
