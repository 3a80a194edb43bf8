// V8's compile cache for what the image starts.
import { chmod, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { warm } from '../runtime/warm.ts'
import { user } from './machine.ts'
import { run } from './run.ts'

// A cache holds hashes of strings, which are seeded by chance: with the same seed two caches of the same code are the same.
const seeded = ['--hash-seed=1', '--random-seed=1']
// It also holds the path of each module: by way of this one that is the same wherever the image is made.
const here = '/proc/self/cwd'
const asNamed = ['--preserve-symlinks', '--preserve-symlinks-main']
// Where Node keeps its own checksum, and V8 that of its flags (node: src/compile_cache.cc, v8: src/snapshot/code-serializer.h).
const checksumAt = 16
const dataAt = 20
const flagsAt = dataAt + 12

/** Paths in the cache are relative to it, so that it is filled here and used in the image. */
export const cacheEnv = (folder: string) => ({ NODE_COMPILE_CACHE: folder, NODE_COMPILE_CACHE_PORTABLE: '1' })

/**
 * Node looks for a cache in a folder named after its version, V8's flags, the CPU's features and the user's number, and V8 looks at the flags
 * again. Both are put to what a start without the seed has. On another kind of CPU the folder is not found, and all is compiled as without it.
 */
export async function fillCache(app: string, names: readonly string[]): Promise<void> {
  const cache = join(app, '.cache')
  await run(process.execPath, [join(app, 'drover.js'), '--help'], cacheEnv(cache))
  const [ordinary] = await readdir(cache)
  if (ordinary === undefined) throw new Error('Node wrote no compile cache')
  const flags = await flagsIn(join(cache, ordinary))
  const entry = join(here, 'drover.js')
  const within = join(here, '.cache')
  for (const name of names)
    await warm(entry, within, { flags: [...seeded, ...asNamed], args: [name], env: cacheEnv(within), cwd: app })
  const filled = (await readdir(cache)).find(folder => folder !== ordinary)
  if (filled === undefined) throw new Error('no function left a compile cache')
  for (const file of await readdir(join(cache, filled))) await asOrdinary(join(cache, filled, file), flags)
  await rm(join(cache, ordinary), { recursive: true })
  const named = (uid: number) => ordinary.replace(/\d+$/, String(uid))
  await rename(join(cache, filled), join(cache, named(user)))
  await symlink(named(user), join(cache, named(0))) // for the agents that run as root
}

async function flagsIn(folder: string): Promise<Buffer> {
  const [file] = await readdir(folder)
  if (file === undefined) throw new Error(`no compile cache in ${folder}`)
  return (await readFile(join(folder, file))).subarray(flagsAt, flagsAt + 4)
}

async function asOrdinary(file: string, flags: Buffer): Promise<void> {
  const bytes = await readFile(file)
  flags.copy(bytes, flagsAt)
  bytes.writeUInt32LE(crc32(bytes.subarray(dataAt)), checksumAt)
  await writeFile(file, bytes)
  await chmod(file, 0o644)
}
