// Ports for servers that must know theirs before they start. One that is bound and closed again may be anybody's a moment later; so these are outside of
// the range from which the kernel gives ports to connections, and reserved by a folder for a day. openstack/openstack.sh takes its own from there too.
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readdir, rmdir, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { cacheFolder } from './cache.ts'

const reservedMs = 24 * 60 * 60_000

export async function freePort(): Promise<number> {
  const folder = cacheFolder('ports')
  await mkdir(folder, { recursive: true })
  for (const name of await readdir(folder)) await dropOld(join(folder, name))
  for (;;) {
    const port = 20_000 + randomInt(12_000)
    if ((await reserve(join(folder, String(port)))) && (await isFree(port))) return port
  }
}

async function dropOld(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined) // released meanwhile
  if (found && Date.now() - found.mtimeMs > reservedMs) await rmdir(path).catch(() => {})
}

async function reserve(path: string): Promise<boolean> {
  try {
    await mkdir(path)
    return true
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw err
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
