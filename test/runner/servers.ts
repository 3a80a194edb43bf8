// The real servers of a run: installed or built when something is missing, started once where they can be shared, and stopped.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { say, type Prepared } from '../servers/say.ts'
import type { Places } from './pool.ts'
import type { TestFile } from './suite.ts'

export interface Server {
  /** Belongs to `npm run test:cluster`: it is compiled, which takes long. */
  tier?: 'cluster'
  /** Wants the processors while it is made ready; the others want the network. */
  compiles?: boolean
  /** A whole machine's worth: its files run when all others have ended. */
  last?: boolean
  /** Serves so many test files at a time. */
  exclusive?: number
  /** Installs or builds what is missing. */
  prepare(): Promise<Prepared>
  /** One for the whole run; without it each test file starts its own. */
  share?(): Promise<Shared>
}

interface Shared {
  env: Record<string, string>
  stop: () => Promise<void>
}

export interface Missing {
  reason: string
  /** It can be had here, but does not start. */
  isBroken: boolean
}

/** Compiling KubeVirt and Knative with an empty cache is the longest. */
const limitMinutes = 60
const stopMinutes = 3

export type Known = ReadonlyMap<string, Server>

export async function load(files: readonly TestFile[], folder: string): Promise<Known> {
  const known = new Map<string, Server>()
  for (const name of new Set(files.flatMap(({ servers }) => servers)))
    known.set(name, (await import(join(folder, `${name}.ts`))) as Server)
  return known
}

export const isClusterFile = (file: TestFile, known: Known): boolean =>
  file.servers.some(name => known.get(name)?.tier === 'cluster')

export interface Fleet {
  prepare: () => Promise<void>
  ready: (file: TestFile) => 'yes' | 'not yet' | 'never'
  places: (file: TestFile) => Places | undefined
  env: () => Record<string, string>
  /** Why a server cannot be had: this machine cannot provide it, or it is broken. */
  missing: ReadonlyMap<string, Missing>
  /** What is wrong with that. */
  stop: () => Promise<string[]>
}

export function fleet(names: Iterable<string>, known: Known): Fleet {
  const missing = new Map<string, Missing>()
  const standing = new Set<string>()
  const shared: Shared[] = []

  async function make(name: string): Promise<void> {
    const server = known.get(name) as Server
    const started = Date.now()
    try {
      const prepared = await inTime(server.prepare())
      if (!prepared.ok) missing.set(name, { reason: prepared.reason, isBroken: false })
      else {
        if (server.share) shared.push(await inTime(server.share()))
        standing.add(name)
      }
    } catch (err) {
      missing.set(name, { reason: `${name} does not start: ${(err as Error).message}`, isBroken: true })
    }
    say(`${name}: ${missing.get(name)?.reason ?? `ready after ${((Date.now() - started) / 1000).toFixed(1)} s`}`)
  }

  return {
    missing,
    /** One after the other, so that each has the machine; but what is compiled and what is installed side by side. */
    async prepare() {
      const inTurn = async (compiles: boolean): Promise<void> => {
        for (const name of names) if ((known.get(name)?.compiles ?? false) === compiles) await make(name)
      }
      await Promise.all([inTurn(true), inTurn(false)])
    },
    ready({ servers }) {
      if (servers.some(name => missing.has(name))) return 'never'
      return servers.every(name => standing.has(name)) ? 'yes' : 'not yet'
    },
    places({ servers }) {
      const name = servers.find(each => known.get(each)?.exclusive !== undefined)
      return name === undefined ? undefined : { name, count: Number(known.get(name)?.exclusive) }
    },
    env: () => Object.assign({}, ...shared.map(({ env }) => env)),
    async stop() {
      const ended = await Promise.allSettled(shared.splice(0).map(({ stop }) => inTime(stop(), stopMinutes)))
      return ended.flatMap(one => (one.status === 'rejected' ? [`a server does not stop: ${(one.reason as Error).message}`] : []))
    }
  }
}

async function inTime<T>(work: Promise<T>, minutes = limitMinutes): Promise<T> {
  const stopped = new AbortController()
  const limit = sleep(minutes * 60_000, undefined, { signal: stopped.signal, ref: false }).then(() => {
    throw new Error(`not done after ${minutes} minutes`)
  })
  try {
    return await Promise.race([work, limit])
  } finally {
    limit.catch(() => {}) // of the race that it lost
    stopped.abort()
  }
}
