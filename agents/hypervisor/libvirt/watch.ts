// Facts from libvirt: one session for each connection, and each session subscribes first, then lists, then listens (NA-7…10).
import {
  type Backoff,
  connect,
  LibvirtError,
  parseUri,
  reconnecting,
  type Domain,
  type DomainEvent,
  type KeepaliveOptions,
  type Libvirt
} from 'node-libvirt'
import type { Logger } from 'pino'
import { domainReader } from './domain-reader.ts'
import { FactQueue } from './fact-queue.ts'
import type { Fact } from './fact.ts'
import { followLink } from './link.ts'
import { lister, readAll } from './lister.ts'
import { Moves } from './moves.ts'
import { patience } from './patience.ts'
import { readLink } from './read.ts'
import { subscribe } from './subscribe.ts'

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
  backoff?: Backoff
  sampleMs?: (sample: number) => number
}

/** What outlives a connection. */
interface Shared {
  facts: FactQueue
  /** Outgoing moves whose end was not told yet. */
  moving: Set<string>
  /** Domains that libvirt could not manage: asked about until it can. */
  doubted: Map<string, Domain>
  /** Lists everything again, on the connection that there is. */
  again?: (() => void) | undefined
}

const queued = 10_000
/** Where nothing tells of a domain's life. */
const pollMs = 10_000

export async function* watch(options: WatchOptions): AsyncGenerator<Fact> {
  const { uri, mayConnect, signal, log, capacity = queued, keepalive, backoff } = options
  const shared: Shared = {
    facts: new FactQueue({ capacity, onOverflow: () => shared.again?.() }),
    moving: new Set(),
    doubted: new Map()
  }
  const { begin, failed, wait, end } = patience(parseUri(uri).target)
  const dial = async () => {
    await mayConnect(signal)
    begin()
    const virt = await connect(uri, { signal, ...(keepalive && { keepalive }) })
    end()
    return virt
  }
  const sessions = async () => {
    const onFailure = (err: LibvirtError, failures: number) => {
      if (failures === 1) log.warn({ err }, 'libvirt cannot be reached')
      failed(err)
      shared.facts.push({ kind: 'unreachable', reason: 'ConnectFailed', message: err.message })
    }
    // whatever a connection fails by may pass: a certificate is renewed, a rule is changed
    const shouldRetry = () => true
    for await (const virt of reconnecting(dial, { signal, onFailure, shouldRetry, wait, ...(backoff && { backoff }) }))
      await session(virt, options, shared)
  }
  sessions()
    .finally(end)
    .then(
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
  const reader = domainReader(virt, epoch, tell, logDomain, shared.doubted)
  const ends = [() => moves.close(), () => reader.close()]
  const stop = () => void virt.close()
  signal.addEventListener('abort', stop)
  try {
    const { events, missing } = await subscribe(virt, queued)
    const link = await readLink(virt, missing)
    tell({ kind: 'connected', epoch, link })
    tell({ kind: 'snapshot', epoch, domains: await readAll(virt, logDomain, moves) })
    const follower = followLink(() => readLink(virt, missing), link, { epoch, fullCheckMs, tell })
    const { again, touch, close } = lister(virt, epoch, tell, logDomain)
    shared.again = again
    reader.again()
    const check = (): void => {
      again()
      reader.again()
    }
    const timer = setInterval(check, missing.includes('lifecycle') ? Math.min(pollMs, fullCheckMs) : fullCheckMs)
    ends.push(
      () => clearInterval(timer),
      close,
      () => follower.close()
    )
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
        if (told.kind === 'control-error') reader.doubt(told.domain)
      }
    }
    if (!signal.aborted) tell({ kind: 'lost', epoch, message: 'the connection ended' })
  } catch (err) {
    if (!(err instanceof LibvirtError)) throw err
    if (!signal.aborted) tell({ kind: 'lost', epoch, message: err.message })
  } finally {
    shared.again = undefined
    for (const end of ends) end()
    signal.removeEventListener('abort', stop)
  }
}

const mayChange = (event: DomainEvent): boolean => event.kind === 'lifecycle' || event.kind === 'reboot'
