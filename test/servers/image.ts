// The image, unpacked and run as a container runtime would: its own root, read-only, its user, no capability. No engine is needed.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { install } from './install.ts'
import type { Prepared } from './say.ts'

export async function prepare(): Promise<Prepared> {
  if (process.platform !== 'linux') return { ok: false, reason: 'the image is one of Linux' }
  if (process.getuid?.() !== 0) return { ok: false, reason: 'another root needs root' }
  const namespaces = spawnSync('unshare', ['--mount', '--propagation', 'private', 'true'], { encoding: 'utf8' })
  if (namespaces.status !== 0) return { ok: false, reason: `namespaces cannot be made: ${namespaces.stderr ?? namespaces.error}` }
  return install(['systemd', 'coreutils'], ['/usr/bin/systemd-inhibit', '/usr/bin/cat'])
}

export interface OciConfig {
  config: { User: string; Env: string[]; Entrypoint: string[]; WorkingDir: string }
  rootfs: { diff_ids: string[] }
}

export interface Unpacked {
  root: string
  about: OciConfig
  /** Starts it as its configuration says, with these arguments. */
  start: (args: readonly string[], options?: { env?: Record<string, string>; entrypoint?: readonly string[] }) => ChildProcess
}

function tar(...args: string[]): void {
  const { status, stderr } = spawnSync('tar', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`tar: ${stderr}`)
}

/** `folder` must be there; everything in it is the caller's to remove. */
export async function unpack(archive: string, folder: string): Promise<Unpacked> {
  const layout = join(folder, 'oci')
  const root = join(folder, 'root')
  for (const made of [layout, root]) await mkdir(made)
  tar('-xf', archive, '-C', layout)
  const blob = (digest: string) => join(layout, 'blobs/sha256', digest.slice('sha256:'.length))
  const read = async <T>(file: string) => JSON.parse(await readFile(file, 'utf8')) as T
  const { manifests } = await read<{ manifests: [{ digest: string }] }>(join(layout, 'index.json'))
  const manifest = await read<{ config: { digest: string }; layers: Array<{ digest: string }> }>(blob(manifests[0].digest))
  for (const { digest } of manifest.layers) tar('-xzf', blob(digest), '-C', root)
  const about = await read<OciConfig>(blob(manifest.config.digest))
  const script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec setpriv --no-new-privs env -i "$@"'
  const { User, Env, Entrypoint } = about.config
  return {
    root,
    about,
    start(args, { env = {}, entrypoint = Entrypoint } = {}) {
      const settings = [...Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)]
      const command = [...settings, '/usr/sbin/chroot', `--userspec=${User}`, root, ...entrypoint, ...args]
      return spawn('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', script, root, ...command], {
        stdio: ['ignore', 'pipe', 'pipe']
      })
    }
  }
}
