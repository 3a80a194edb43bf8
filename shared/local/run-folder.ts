// Folders below the temporary one that live as long as this process. kill -9 leaves them behind: the next start takes those away whose process
// is proven to be gone, by the number it had, when it began, and where such numbers are counted.
import { mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const prefix = 'drover-'
const markName = '.owner'

interface Owner {
  pid: number
  /** In ticks since the boot: numbers of processes are used again. */
  started: string
  /** Boot and namespace in which the number means this process. */
  within: string
}

/** With a mark of whose it is. The path stays short: sockets are in it. */
export async function makeRunFolder(kind = ''): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), prefix + kind))
  const owner: Owner = { pid: process.pid, started: (await startOf(process.pid)) ?? '', within: await here() }
  await writeFile(join(folder, markName), JSON.stringify(owner), { mode: 0o600 })
  return folder
}

/** How many were taken away. One that cannot be is told, and stays. */
export async function sweepRunFolders(onFault: (err: unknown) => void): Promise<number> {
  const names = (await readdir(tmpdir())).filter(name => name.startsWith(prefix))
  const swept = await Promise.all(
    names.map(async name => {
      const folder = join(tmpdir(), name)
      try {
        if (!(await isLeftBehind(folder))) return false
        await rm(folder, { recursive: true, force: true, maxRetries: 3 })
        return true
      } catch (err) {
        onFault(err)
        return false
      }
    })
  )
  return swept.filter(Boolean).length
}

async function isLeftBehind(folder: string): Promise<boolean> {
  const mark = join(folder, markName)
  const text = await readFile(mark, 'utf8').catch(() => undefined) // not one of these, or just taken away by another start
  if (text === undefined || (await stat(mark)).uid !== process.getuid?.()) return false
  const owner = ownerIn(text)
  if (!owner || owner.within !== (await here())) return false
  return (await startOf(owner.pid)) !== owner.started
}

/** Undefined while it is being written, too. */
function ownerIn(text: string): Owner | undefined {
  try {
    const { pid, started, within } = JSON.parse(text) as Partial<Owner>
    return pid && started && within ? { pid, started, within } : undefined
  } catch {
    return undefined
  }
}

/** proc(5): the 22nd field of stat, counted behind the name, which may hold spaces. Undefined when there is no such process. */
async function startOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
}

const here = async (): Promise<string> =>
  (
    await Promise.all([
      readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => ''),
      readlink('/proc/self/ns/pid').catch(() => '')
    ])
  )
    .map(part => part.trim())
    .join(' ')
