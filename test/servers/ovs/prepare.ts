// The Debian packages that a real Open vSwitch and OVN need, installed when something is missing
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type Prepared, say } from '../say.ts'

const packages = ['openvswitch-switch', 'openvswitch-common', 'ovn-central', 'ovn-host', 'python3-openvswitch', 'tshark']
const needed = [
  '/usr/sbin/ovsdb-server',
  '/usr/bin/ovsdb-tool',
  '/usr/sbin/ovs-vswitchd',
  '/usr/bin/ovn-northd',
  '/usr/bin/ovn-controller',
  '/usr/lib/python3/dist-packages/ovs/version.py',
  '/usr/bin/tshark'
]

/** Root is needed to install, and for what runs in a lab; ovsdb-server alone runs as anybody. */
export async function prepare(): Promise<Prepared> {
  const missing = needed.filter(file => !existsSync(file))
  if (missing.length === 0) return { ok: true }
  if (process.getuid?.() !== 0)
    return { ok: false, reason: `${missing.join(', ')} missing: apt-get install ${packages.join(' ')}` }
  if (!existsSync('/usr/bin/apt-get'))
    return { ok: false, reason: `${missing.join(', ')} missing, and no apt-get to install them` }
  say(`ovs: installing ${packages.join(' ')} from Debian's archive (about 10 MB; once)`)
  // one at a time: several test processes may find out at once
  const script = `apt-get -qq update && apt-get -qq -y -o DPkg::Lock::Timeout=300 --no-install-recommends install ${packages.join(' ')}`
  const apt = spawnSync('flock', ['/run/lock/drover-apt.lock', 'sh', '-ec', script], {
    encoding: 'utf8',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  })
  return apt.status === 0 ? { ok: true } : { ok: false, reason: `apt-get failed: ${apt.stderr}` }
}
