// Facts from libvirt: one session for each connection, and each session subscribes first, then lists, then listens (NA-7…10).
import {
  connect,
  LibvirtError,
  reconnecting,
  type Domain,
  type DomainEvent,
  type KeepaliveOptions,
  type Libvirt
} from 'node-libvirt'
import type { Logger } from 'pino'
import { FactQueue } from './fact-queue.ts'
import type { DomainRead, Fact } from './fact.ts'
import { Moves } from './moves.ts'
import { readDomain, readLink } from './read.ts'

export interface WatchOptions {
  uri: string
  /** Resolves when a connection may be tried: not while the unit is known to be down (NA-11). */
  mayConnect: (signal: AbortSignal) => Promise<void>
  nextEpoch: () => number
  clock: () => Date
  log: Logger
  signal: AbortSignal
  fullCheckMs: number
  /** So many facts may wait for the consumer (NA-10). */
  capacity?: number
  keepalive?: KeepaliveOptions
  sampleMs?: (sample: number) => number
}

/** What outlives a connection. */
interface Shared {
  facts: FactQueue
  /** Outgoing moves whose end was not told yet. */
  moving: Set<string>
  /** Lists everything again, on the connection that there is. */
  again?: (() => void) | undefined
}

/** Those of ha.md §2. Which of them are told is chosen elsewhere; the agent itself needs them all. */
export const watched = [
  'lifecycle',
  'reboot',
  'watchdog',
  'io-error',
  'io-error-reason',
  'control-error',
  'agent-lifecycle',
  'migration-iteration',
  'job-completed',
  'memory-failure'
] as const

const queued = 10_000
/** Domains read at once: enough to keep libvirt busy, few enough that their XML does not fill the memory. */
const atOnce = 16

export async function* watch(options: WatchOptions): AsyncGenerator<Fact> {
  const { uri, mayConnect, signal, log, capacity = queued, keepalive } = options
  const shared: Shared = { facts: new FactQueue({ capacity, onOverflow: () => shared.again?.() }), moving: new Set() }
  const dial = async () => {
    await mayConnect(signal)
    return connect(uri, { signal, ...(keepalive && { keepalive }) })
  }
  const sessions = async () => {
    const onFailure = (err: LibvirtError, failures: number) => {
      if (failures === 1) log.warn({ err }, 'libvirt cannot be reached')
      shared.facts.push({ kind: 'unreachable', reason: 'ConnectFailed', message: err.message })
    }
    // whatever a connection fails by may pass: a certificate is renewed, a rule is changed
    for await (const virt of reconnecting(dial, { signal, onFailure, shouldRetry: () => true }))
      await session(virt, options, shared)
  }
  sessions().then(
    () => shared.facts.end(),
    err => shared.facts.end(signal.aborted ? undefined : err)
  )
  yield* shared.facts
}

async function session(virt: Libvirt, options: WatchOptions, shared: Shared): Promise<void> {
  const { nextEpoch, signal, log, clock, fullCheckMs, sampleMs } = options
  const epoch = nextEpoch()
  const tell = (fact: Fact) => shared.facts.push(fact)
  const logDomain = (err: Error, domain: Domain) => log.warn({ err, domain: domain.uuid }, 'a domain could not be read')
  const moves = new Moves({
    virt,
    epoch,
    clock,
    tell,
    open: shared.moving,
    log: logDomain,
    ...(sampleMs && { intervalMs: sampleMs })
  })
  const reader = domainReader(virt, epoch, tell, logDomain)
  const stop = () => void virt.close()
  signal.addEventListener('abort', stop)
  let timer: NodeJS.Timeout | undefined
  try {
    const events = await virt.subscribe(watched, { capacity: queued })
    tell({ kind: 'connected', epoch, link: await readLink(virt) })
    tell({ kind: 'snapshot', epoch, domains: await readAll(virt, logDomain, moves) })
    const { again, touch } = lister(virt, epoch, tell, logDomain)
    shared.again = again
    timer = setInterval(again, fullCheckMs)
    for await (const told of events) {
      if (told.kind === 'overflow') {
        tell({ kind: 'overflow', epoch, dropped: told.dropped })
        again()
      } else if (told.kind === 'undecodable') {
        log.error({ err: told.error, expected: told.expected }, 'an event could not be read')
        again()
      } else {
        touch(told.domain)
        tell({ kind: 'event', epoch, at: clock(), event: told })
        moves.see(told)
        if (mayChange(told)) reader.read(told.domain)
      }
    }
    if (!signal.aborted) tell({ kind: 'lost', epoch, message: 'the connection ended' })
  } catch (err) {
    if (!(err instanceof LibvirtError)) throw err
    if (!signal.aborted) tell({ kind: 'lost', epoch, message: err.message })
  } finally {
    shared.again = undefined
    clearInterval(timer)
    moves.close()
    reader.close()
    signal.removeEventListener('abort', stop)
  }
}

const mayChange = (event: DomainEvent): boolean =>
  event.kind === 'lifecycle' || event.kind === 'reboot' || event.kind === 'balloon-change'

async function readAll(virt: Libvirt, log: (err: Error, domain: Domain) => void, moves?: Moves): Promise<DomainRead[]> {
  const domains = await virt.domains()
  const reads: Array<DomainRead | undefined> = []
  for (let at = 0; at < domains.length; at += atOnce) {
    const some = domains.slice(at, at + atOnce)
    reads.push(...(await Promise.all(some.map(domain => readDomain(virt, domain, err => log(err, domain))))))
  }
  if (moves) for (const domain of domains) if (domain.id >= 0) void moves.look(domain)
  return reads.filter(read => read !== undefined)
}

/** Lists everything again, one listing at a time. A listing that failed changes nothing (NA-9). */
function lister(virt: Libvirt, epoch: number, tell: (fact: Fact) => void, log: (err: Error, domain: Domain) => void) {
  let touched: Set<string> | undefined
  let wanted = false
  const run = async (): Promise<void> => {
    do {
      wanted = false
      touched = new Set()
      const domains = await readAll(virt, log)
      tell({ kind: 'snapshot', epoch, domains, except: touched })
    } while (wanted)
  }
  return {
    touch: (domain: Domain) => touched?.add(domain.uuid),
    again: (): void => {
      wanted = true
      if (touched !== undefined) return
      run()
        .catch(err => {
          if (!(err instanceof LibvirtError)) throw err
        })
        .finally(() => (touched = undefined))
    }
  }
}

/** Waits before the reads that follow one which found a domain off: a transient one is there for a moment after its end, and nothing tells then. */
const settleMs = [100, 500, 2000, 10_000]

/** Reads a domain after its event, one read at a time for each: a later event makes it read once more, so the last word is the newest. */
function domainReader(virt: Libvirt, epoch: number, tell: (fact: Fact) => void, log: (err: Error, domain: Domain) => void) {
  const busy = new Map<string, boolean>()
  const later = new Map<string, NodeJS.Timeout>()
  let closed = false
  const run = async (domain: Domain, turn: number): Promise<void> => {
    let read: DomainRead | undefined
    do {
      busy.set(domain.uuid, false)
      read = await readDomain(virt, domain, err => log(err, domain))
      if (busy.get(domain.uuid) === false) tell({ kind: 'domain', epoch, id: domain.uuid, read })
    } while (busy.get(domain.uuid) === true)
    busy.delete(domain.uuid)
    const delay = settleMs[turn]
    if ((read?.state === 'off' || read?.state === 'unknown') && delay !== undefined && !closed)
      later.set(
        domain.uuid,
        setTimeout(() => start(domain, turn + 1), delay)
      )
  }
  const start = (domain: Domain, turn = 0): void => {
    clearTimeout(later.get(domain.uuid))
    later.delete(domain.uuid)
    if (busy.has(domain.uuid)) return void busy.set(domain.uuid, true)
    run(domain, turn).catch(err => {
      busy.delete(domain.uuid) // the connection is gone: the next one lists everything
      if (!(err instanceof LibvirtError)) throw err
    })
  }
  return {
    read: (domain: Domain): void => start(domain),
    close: (): void => {
      closed = true
      for (const timer of later.values()) clearTimeout(timer)
    }
  }
}
