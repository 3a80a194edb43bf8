// The Debian packages that the real libvirtd needs, installed when something is missing
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type Prepared, say } from '../say.ts'

// no libvirt-daemon-system: that one would start a service and make users
const packages = [
  'libvirt-daemon',
  'libvirt-daemon-driver-qemu',
  'qemu-system-x86',
  'qemu-utils',
  'libvirt-clients',
  'nbdkit',
  'openssl'
]
const saslPackages = ['libsasl2-modules', 'sasl2-bin']

const needed = [
  '/usr/sbin/libvirtd',
  '/usr/bin/qemu-system-x86_64',
  '/usr/bin/qemu-img',
  '/usr/bin/virsh',
  '/usr/bin/nbdkit',
  '/usr/bin/openssl',
  '/usr/sbin/saslpasswd2'
]

export async function prepare(): Promise<Prepared> {
  if (process.platform !== 'linux') return { ok: false, reason: 'libvirtd needs Linux' }
  if (process.getuid?.() !== 0) return { ok: false, reason: 'a private libvirtd needs root (mount and PID namespaces)' }
  const namespaces = spawnSync('unshare', ['--net', '--mount', '--pid', '--fork', 'true'], { encoding: 'utf8' })
  if (namespaces.status !== 0) return { ok: false, reason: `namespaces cannot be made: ${namespaces.stderr ?? namespaces.error}` }
  return install([...packages, ...saslPackages], needed)
}

/** Does nothing if every file is there. */
export function install(names: readonly string[], files: readonly string[]): Prepared {
  const missing = files.filter(file => !existsSync(file))
  if (missing.length === 0) return { ok: true }
  if (!existsSync('/usr/bin/apt-get'))
    return { ok: false, reason: `${missing.join(', ')} missing, and no apt-get to install them` }
  say(`installing ${names.join(' ')} from Debian's archive (about 30 MB, once)`)
  // one at a time: several test processes may find out at once
  const script = `apt-get -qq update && apt-get -qq -y -o DPkg::Lock::Timeout=300 --no-install-recommends install ${names.join(' ')}`
  const apt = spawnSync('flock', ['/run/lock/drover-apt.lock', 'sh', '-ec', script], {
    encoding: 'utf8',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  })
  return apt.status === 0 ? { ok: true } : { ok: false, reason: `apt-get failed: ${apt.stderr}` }
}
