// Notices of a kernel that crashed (ha.md §2): what kdump, or pstore over systemd-pstore, has left on the host's disk before this boot
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

const folders = ['var/crash', 'var/lib/systemd/pstore', 'sys/fs/pstore']
/** kdump keeps its lock and its tools' state beside the dumps. */
const isDump = (name: string): boolean => !/^(?:\.|kdump_lock$|kexec_cmd$)/.test(name)

/** Paths below the host's root, sorted. A folder that is not there has none. */
export async function findDumps(root: string): Promise<string[]> {
  const found = await Promise.all(
    folders.map(async folder => {
      const names = await readdir(join(root, folder)).catch(() => [])
      return names.filter(isDump).map(name => `/${folder}/${name}`)
    })
  )
  return found.flat().sort()
}

/** Those that nobody has seen yet. Before the first look nothing is known, and so nothing of it is news. */
export const newDumps = (found: readonly string[], known: readonly string[] | undefined): string[] =>
  known === undefined ? [] : found.filter(path => !known.includes(path))
