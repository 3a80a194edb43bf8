// The Debian packages that the real libvirtd needs, installed when something is missing
import { spawnSync } from 'node:child_process'
import { install } from '../install.ts'
import type { Prepared } from '../say.ts'

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
