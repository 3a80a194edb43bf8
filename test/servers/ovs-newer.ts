// Open vSwitch and OVN of the next Debian, beside the installed ones: the newest that can be had without compiling (OV-74). A test runs on
// them that imports ovs/use-newer.ts before ovs.ts.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from './cache.ts'
import { type Prepared, say } from './say.ts'

const suite = 'trixie'
/** What that suite has. */
export const release = { ovs: '3.5.0', ovn: '25.03.0' }
export const folder = cacheFolder(`ovs-${suite}`)

export const prepare = async (): Promise<Prepared> => prepareNow()

export function prepareNow(): Prepared {
  if (existsSync(folder)) return { ok: true }
  if (!existsSync('/usr/bin/apt-get')) return { ok: false, reason: 'no apt-get to load a newer Open vSwitch with' }
  say(`ovs: loading Open vSwitch and OVN of Debian ${suite} (about 15 MB; once)`)
  const script = `test -e "$1" || exec "$0" "$1" "$2"` // one at a time
  const made = spawnSync(
    'flock',
    ['/run/lock/drover-apt.lock', 'sh', '-ec', script, join(import.meta.dirname, 'ovs', 'newer.sh'), folder, suite],
    { encoding: 'utf8' }
  )
  return made.status === 0 ? { ok: true } : { ok: false, reason: `Open vSwitch of Debian ${suite} cannot be had: ${made.stderr}` }
}
