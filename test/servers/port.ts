// Ports for servers that must know theirs before they start. One that is bound and closed again may be anybody's a moment later; so these are outside of
// the range from which the kernel gives ports to connections, and reserved by a folder until this process ends, or for a day if that one is killed.
// openstack/openstack.sh takes its own from there too.
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { rmdirSync } from 'node:fs'
import { mkdir, readdir, rmdir, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { cacheFolder } from './cache.ts'

const reservedMs = 24 * 60 * 60_000
const reserved = new Set<string>() // by this process

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
    if (reserved.size === 0) process.once('exit', () => reserved.forEach(release))
    reserved.add(path)
    return true
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw err
  }
}

function release(path: string): void {
  try {
    rmdirSync(path)
  } catch {
    // dropped as an old one
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
