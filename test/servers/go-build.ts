// Programs that are compiled once for this user, into a folder of the cache that is there whole or not at all.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { findGo } from './go.ts'
import { say } from './say.ts'

const run = promisify(execFile)

export interface Workshop {
  go: string
  /** Where the programs are put, named for their packages; all that is there is kept. */
  folder: string
  env: NodeJS.ProcessEnv
}

export interface Wanted {
  what: string
  folder: string
  /** What is there with another stamp is compiled anew. */
  stamp: string
  /** In words, for who has to wait. */
  takes: string
}

/** Two runs at once compile once: the second waits for the first, and finds its work done. */
export async function builtOnce(wanted: Wanted, build: (workshop: Workshop) => Promise<void>): Promise<string> {
  const { what, folder: kept, stamp, takes } = wanted
  const isThere = async () => (await readFile(join(kept, 'version'), 'utf8').catch(() => '')) === stamp
  if (await isThere()) return kept
  const go = await findGo()
  await mkdir(dirname(kept), { recursive: true })
  const unlock = await lock(`${kept}.lock`)
  try {
    if (await isThere()) return kept
    say(`compiling ${what} once into ${kept} (${takes}, kept for later runs)`)
    const folder = await mkdtemp(`${kept}-`)
    try {
      await build({
        go,
        folder,
        env: { ...process.env, GOFLAGS: '-mod=readonly -buildvcs=false', GOWORK: 'off', CGO_ENABLED: '0' }
      })
      await writeFile(join(folder, 'version'), stamp)
      await rm(kept, { recursive: true, force: true })
      await rename(folder, kept)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
    return kept
  } finally {
    unlock()
  }
}

/** Held by a child that ends with this process, however it ends. */
async function lock(file: string): Promise<() => void> {
  const holder = spawn('flock', [file, 'sh', '-c', 'echo; cat'], { stdio: ['pipe', 'pipe', 'inherit'] })
  await Promise.race([
    once(holder.stdout, 'data'),
    once(holder, 'close').then(() => Promise.reject(new Error(`${file} cannot be locked`)))
  ])
  return () => holder.stdin.end()
}

export interface Compiled {
  what: string
  /**
   * A folder with go.mod and go.sum, which say every version: without them Go asks for thousands of modules, one after the other. For another release
   * take its go.mod, the published modules in place of its staging folders, and `GOFLAGS=-mod=mod go list -deps ./...` until nothing changes.
   */
  module: string
  packages?: string[]
  linkerFlags?: string
}

/** With a line of progress every 20 s. */
export async function compile(
  { go, folder, env }: Workshop,
  { what, module: cwd, packages = ['.'], linkerFlags = '-s -w' }: Compiled
): Promise<void> {
  const { stdout } = await run(go, ['list', '-deps', ...packages], { cwd, env, maxBuffer: 1 << 26 })
  const total = stdout.trim().split('\n').length
  const started = Date.now()
  const args = ['build', '-v', '-trimpath', '-ldflags', linkerFlags, '-o', `${folder}/`, ...packages]
  const child = spawn(go, args, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] })
  const lines: string[] = []
  createInterface(child.stderr).on('line', line => lines.push(line))
  const progress = setInterval(() => {
    const seconds = (Date.now() - started) / 1000
    const left = Math.round((seconds / lines.length) * (total - lines.length))
    // the first few say little: what Go has in its cache is not told
    const estimate = lines.length > total / 20 ? `, about ${left > 0 ? left : 20} s left` : ''
    say(`${what}: ${lines.length} of ${total} packages compiled${estimate}`)
  }, 20_000)
  const [code] = (await once(child, 'close').finally(() => clearInterval(progress))) as [number]
  if (code !== 0) throw new Error(`go build of ${what} failed:\n${lines.slice(-20).join('\n')}`)
}
