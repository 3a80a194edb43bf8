// Imported after use-newer.ts, by every file that runs on the newer release: fails the file when its daemons are of another one. Not a test of
// its own: tap would take the file for ended while the others still start their servers.
import { spawnSync } from 'node:child_process'
import { release } from '../ovs-newer.ts'
import { env } from './daemon.ts'

const versionOf = (program: string): string | undefined =>
  /(\d[\d.]*)$/m.exec(spawnSync(program, ['--version'], { env, encoding: 'utf8' }).stdout)?.[1]

const wanted = { 'ovs-vswitchd': release.ovs, 'ovsdb-server': release.ovs, 'ovn-controller': release.ovn }
for (const [program, version] of Object.entries(wanted)) {
  const found = versionOf(program)
  if (found !== version) throw new Error(`OV-74: ${program} is ${found}, not ${version}`)
}
if (versionOf('/usr/sbin/ovs-vswitchd') === release.ovs)
  throw new Error(`OV-74: the installed Open vSwitch is ${release.ovs} too`)
