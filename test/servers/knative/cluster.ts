// The handle of one cluster: its addresses, its API, its processes.
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, readlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Access } from '../access.ts'
import { binFolder } from '../kubernetes-build.ts'
import { nodeFolder } from './node-build.ts'
import { knativeFolder } from './prepare.ts'

const run = promisify(execFile)
const script = join(import.meta.dirname, 'cluster.sh')

/** Of a machine that has more to do than it can: asked again, which is why callers say `apply` and not `create`. */
const busy =
  /failed calling webhook|etcdserver: request timed out|context deadline exceeded|connection refused|TLS handshake timeout/

export type Part = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kubelet'

export interface Cluster extends Access {
  folder: string
  /** This machine, as pods see it. */
  host: string
  /** The node, as this machine and pods see it. */
  node: string
  kubectl: (args: string[], input?: string) => Promise<string>
  /** A command inside the node's namespaces. */
  inside: (command: string[], env?: Record<string, string>) => Promise<string>
  /** Processes of pods, by the end of their program's path and, where many share it, by what stands in their command line or cgroup. */
  processes: (program: string, among?: string) => Promise<number[]>
  /** An OCI archive, for pods to use. */
  importImage: (file: string) => Promise<void>
  kill: (part: Part) => Promise<void>
  /** Starts what was killed. */
  up: () => Promise<void>
  stop: () => Promise<void>
}

async function findProcesses(cgroup: string, program: string, among: string): Promise<number[]> {
  const found: number[] = []
  for (const pid of (await readdir('/proc')).filter(name => /^\d+$/.test(name))) {
    const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8')
    try {
      if (!(await readlink(`/proc/${pid}/exe`)).endsWith(program)) continue
      const where = await read('cgroup')
      if (where.includes(cgroup) && `${where}${await read('cmdline')}`.includes(among)) found.push(Number(pid))
    } catch {
      // it ended while we looked
    }
  }
  return found
}

/** A new one, or the handle of one that runs. */
export async function startCluster(known?: { folder: string }): Promise<Cluster> {
  const folder = known?.folder ?? (await mkdtemp(join(tmpdir(), 'dn-'))) // short: a unix socket path ends at 108 bytes
  const env = { CONTROL: binFolder, NODE: nodeFolder, KNATIVE: knativeFolder, DIR: folder, OWNER: String(process.pid) }
  const call = async (...args: string[]) => {
    const { stdout } = await run(script, args, { env: { ...process.env, ...env }, maxBuffer: 1 << 28 })
    return stdout
  }
  const stop = async () => void (await call('down'))
  try {
    if (known === undefined) await call('up')
  } catch (err) {
    await stop()
    throw err
  }
  const pki = join(folder, 'pki')
  const token = (name: string) => readFile(join(pki, `${name}.token`), 'utf8')
  const net = `10.${(await readFile(join(folder, 'run', 'net'), 'utf8')).trim()}`
  const kubeconfig = join(pki, 'admin.kubeconfig')
  return {
    folder,
    host: `${net}.0.1`,
    node: `${net}.0.2`,
    server: `https://${net}.0.2:6443`,
    kubeconfig,
    ca: join(pki, 'ca.crt'),
    adminToken: await token('admin'),
    devToken: await token('dev'),
    webhookCert: join(pki, 'webhook.crt'),
    webhookKey: join(pki, 'webhook.key'),
    auditLog: join(folder, 'audit.log'),
    async kubectl(args, input) {
      const options = ['--kubeconfig', kubeconfig, '--cache-dir', join(folder, 'kubectl-cache')]
      const once = async () => {
        const running = run(join(binFolder, 'kubectl'), [...options, ...args], { maxBuffer: 1 << 28 })
        running.child.stdin?.end(input)
        return (await running).stdout
      }
      for (const until = Date.now() + 300_000; ;) {
        try {
          return await once()
        } catch (err) {
          if (Date.now() > until || !busy.test((err as { stderr?: string }).stderr ?? '')) throw err
        }
      }
    },
    async inside(command, more = {}) {
      const { stdout } = await run(script, ['run', ...command], { env: { ...process.env, ...env, ...more }, maxBuffer: 1 << 28 })
      return stdout
    },
    processes: (program, among = '') => findProcesses(`/drover-k${net.slice(3)}/`, program, among),
    importImage: async file => void (await call('import', file)),
    kill: async part => void (await call('kill', part)),
    up: async () => void (await call('up')),
    stop
  }
}
