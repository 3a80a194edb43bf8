import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { say, type Prepared } from './say.ts'

const run = promisify(execFile)

// Daemons would start themselves when they are installed: a policy keeps them from it.
const script = `
  policy=/usr/sbin/policy-rc.d
  [ -e $policy ] || { printf '#!/bin/sh\\nexit 101\\n' > $policy; chmod 755 $policy; trap "rm -f $policy" EXIT; }
  apt-get -qq update
  apt-get -qq -y -o DPkg::Lock::Timeout=1200 --no-install-recommends install "$@"`

/** Debian packages that bring these files; does nothing if every file is there. */
export async function install(names: readonly string[], files: readonly string[]): Promise<Prepared> {
  const missing = files.filter(file => !existsSync(file))
  if (missing.length === 0) return { ok: true }
  const wanted = `${missing.join(', ')} missing`
  if (process.getuid?.() !== 0) return { ok: false, reason: `${wanted}: apt-get install ${names.join(' ')}` }
  if (!existsSync('/usr/bin/apt-get')) return { ok: false, reason: `${wanted}, and no apt-get to install them` }
  say(`installing ${names.join(' ')} from Debian's archive (once)`)
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    // one at a time: several test processes may find out at once
    await run('flock', ['/run/lock/drover-apt.lock', 'sh', '-ec', script, 'install', ...names], { env, maxBuffer: 1 << 26 })
    return { ok: true }
  } catch (err) {
    return { ok: false, reason: `apt-get failed: ${(err as { stderr?: string }).stderr?.trim() || (err as Error).message}` }
  }
}
