// Builds or installs all that a node with Knative and the RabbitMQ broker class needs.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheFolder } from '../cache.ts'
import { findGo } from '../go.ts'
import { buildKubernetes } from '../kubernetes-build.ts'
import { install } from '../install.ts'
import type { Prepared } from '../say.ts'
import { buildNode } from './node-build.ts'

const scripts = import.meta.dirname
export const knativeFolder = cacheFolder('knative-0.50')

const programs = {
  containerd: '/usr/bin/containerd',
  runc: '/usr/sbin/runc',
  iptables: '/usr/sbin/iptables',
  conntrack: '/usr/sbin/conntrack',
  iproute2: '/usr/bin/ip',
  openssl: '/usr/bin/openssl',
  curl: '/usr/bin/curl',
  'python3-pip': '/usr/lib/python3/dist-packages/pip',
  'containernetworking-plugins': '/usr/lib/cni/bridge',
  'rabbitmq-server': '/usr/lib/rabbitmq/bin/rabbitmq-server'
}

export async function prepare(): Promise<Prepared> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return { ok: false, reason: 'a Kubernetes node needs root on Linux' }
  const namespaces = spawnSync('unshare', ['--net', '--mount', '--pid', '--fork', 'true'], { encoding: 'utf8' })
  if (namespaces.status !== 0) return { ok: false, reason: `namespaces cannot be made: ${namespaces.stderr ?? namespaces.error}` }
  if (!existsSync('/sys/fs/cgroup/memory/cgroup.procs'))
    return { ok: false, reason: 'the node is made for cgroup v1, which this machine has not' }
  const installed = await install(Object.keys(programs), Object.values(programs))
  if (!installed.ok) return installed
  try {
    const control = await buildKubernetes()
    const node = await buildNode()
    await mkdir(knativeFolder, { recursive: true })
    const script = join(scripts, 'build.sh')
    const lock = join(knativeFolder, 'lock') // two runs at once: the second finds it built
    const args = [lock, script, knativeFolder, await findGo(), join(node, 'pause'), join(control, 'kubectl')]
    const child = spawn('flock', args, { stdio: ['ignore', 'ignore', 'inherit'] })
    const [code] = (await once(child, 'close')) as [number]
    return code === 0 ? { ok: true } : { ok: false, reason: 'Knative cannot be built, see above' }
  } catch (err) {
    return { ok: false, reason: `Knative cannot be built: ${(err as Error).message}` }
  }
}
