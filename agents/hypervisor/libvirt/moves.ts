// Watching migrations at both ends (NA-17…19)
import { setTimeout as sleep } from 'node:timers/promises'
import { LibvirtError, procedures, type Domain, type DomainEvent, type Libvirt } from 'node-libvirt'
import type { Fact, MoveResult, Stats } from './fact.ts'
import { isMigration, jobFigures } from './job-stats.ts'

interface Move {
  domain: Domain
  samples: number
  phase: 'Running' | 'PostCopy' | 'PostCopyFailed'
  stats: Stats
  /** The domain has left this host. */
  left: boolean
  timer?: NodeJS.Timeout
}

interface Options {
  virt: Libvirt
  epoch: number
  clock: () => Date
  tell: (fact: Fact) => void
  log: (err: Error, domain: Domain) => void
  /** Outgoing moves whose end was not told yet, by domain; outlives the connection, so that a new one can tell it. */
  open: Set<string>
  /** The wait before the n-th sample. */
  intervalMs?: (sample: number) => number
}

/** One sample a second at first, when a fast move is over soon, then fewer. */
const pace = (sample: number): number => (sample < 10 ? 1000 : 3000)
/** Waits for the figures of a move that has arrived: they are there when libvirt is done with it, a little after its event. */
const settleMs = [0, 50, 100, 200, 400, 800, 1600]
/** So many samples after the domain left, its job should have completed. */
const longest = 60

export class Moves {
  readonly #options: Options
  readonly #moves = new Map<string, Move>()
  /** Arriving here, by domain. */
  readonly #arriving = new Set<string>()
  #closed = false

  constructor(options: Options) {
    this.#options = options
  }

  see(event: DomainEvent): void {
    const { domain } = event
    const move = this.#moves.get(domain.uuid)
    if (event.kind === 'migration-iteration') this.#begin(domain)
    else if (event.kind === 'job-completed') this.#completed(domain, jobFigures('completed', event.params))
    else if (event.kind === 'lifecycle') {
      const what = `${event.event}/${event.detail}`
      if (what === 'suspended/post-copy' && move) this.#turn(move, 'PostCopy')
      // neither side may be touched, and the same job may be taken up again: it goes on being sampled
      if (what === 'suspended/post-copy-failed' && move) this.#turn(move, 'PostCopyFailed')
      if (what === 'stopped/migrated') this.#left(domain)
      else if (event.event === 'stopped' && move) this.#end(move, 'failed')
      if (what === 'started/migrated') this.#arriving.add(domain.uuid)
      if (what === 'resumed/migrated') void this.#arrived(domain)
      if (event.event === 'stopped' && this.#arriving.delete(domain.uuid))
        this.#tell(domain, { type: 'failed', operation: 'migration_in' }, true, 'failed')
    }
  }

  /** As this connection begins. One that is not here any more has arrived elsewhere, or died on its way: its other end and Nova know which. */
  listed(domains: readonly Domain[]): void {
    const running = domains.filter(({ id }) => id >= 0)
    const here = new Set(running.map(({ uuid }) => uuid))
    for (const id of this.#options.open) if (!here.has(id)) this.#options.open.delete(id)
    for (const domain of running) void this.#look(domain)
  }

  /** Its move may be under way, or may have ended while nobody listened. */
  async #look(domain: Domain): Promise<void> {
    const stats = await this.#read(domain)
    if (stats === undefined || this.#moves.has(domain.uuid)) return
    if (isMigration(stats) && stats['type'] !== 'none') this.#begin(domain)
    else if (this.#options.open.delete(domain.uuid)) this.#tell(domain, { type: 'failed' }, false, 'failed') // it is still here
  }

  close(): void {
    this.#closed = true
    for (const { timer } of this.#moves.values()) clearTimeout(timer)
    this.#moves.clear()
  }

  #begin(domain: Domain): void {
    if (this.#moves.has(domain.uuid) || this.#closed) return
    const move: Move = { domain, samples: 0, phase: 'Running', stats: {}, left: false }
    this.#moves.set(domain.uuid, move)
    this.#options.open.add(domain.uuid)
    void this.#sample(move)
  }

  async #sample(move: Move): Promise<void> {
    const { intervalMs = pace } = this.#options
    const stats = await this.#read(move.domain)
    if (this.#moves.get(move.domain.uuid) !== move) return
    const type = stats?.['type']
    if (stats !== undefined && (type === 'bounded' || type === 'unbounded')) {
      this.#progressed(move, stats)
    } else if (!move.left && move.samples > 0 && type !== undefined && type !== 'completed' && (await this.#stays(move.domain))) {
      return this.#end(move, type === 'cancelled' ? 'cancelled' : 'failed') // an aborted move tells nothing else
    }
    move.samples += 1
    // A domain that left and whose job never completed: the entry is released all the same
    if (move.left && move.samples > longest) return this.#end(move, 'failed')
    move.timer = setTimeout(() => void this.#sample(move), intervalMs(move.samples))
  }

  /** Told at once: what follows may be over before the next sample. */
  #turn(move: Move, phase: Move['phase']): void {
    move.phase = phase
    this.#progressed(move, move.stats)
  }

  #progressed(move: Move, stats: Stats): void {
    const { tell, epoch, clock } = this.#options
    const { uuid: id, name } = move.domain
    move.stats = { ...stats, phase: move.phase }
    tell({ kind: 'moving', epoch, at: clock(), id, name, incoming: false, stats: move.stats })
  }

  #left(domain: Domain): void {
    this.#begin(domain) // where no round was told before
    const move = this.#moves.get(domain.uuid)
    if (move === undefined) return
    move.left = true
    if (move.stats['type'] === 'completed') this.#end(move, 'success')
  }

  #completed(domain: Domain, stats: Stats): void {
    if (!isMigration(stats) || stats['operation'] === 'migration_in') return
    this.#begin(domain)
    const move = this.#moves.get(domain.uuid)
    if (move === undefined) return
    move.stats = stats
    if (move.left) this.#end(move, 'success')
  }

  async #arrived(domain: Domain): Promise<void> {
    this.#arriving.delete(domain.uuid)
    let stats: Stats | undefined
    for (const ms of settleMs) {
      await sleep(ms)
      stats = await this.#read(domain, procedures.JOB_STATS.completed) // of a running move it may not be asked here
      if (stats === undefined || stats['type'] !== 'none') break
    }
    this.#tell(domain, { ...stats, type: 'completed', operation: 'migration_in' }, true, 'success')
  }

  #end(move: Move, result: MoveResult): void {
    clearTimeout(move.timer)
    this.#moves.delete(move.domain.uuid)
    this.#options.open.delete(move.domain.uuid)
    this.#tell(move.domain, { ...move.stats, type: result === 'success' ? 'completed' : result }, false, result)
  }

  #tell({ uuid: id, name }: Domain, stats: Stats, incoming: boolean, result: MoveResult): void {
    const { tell, epoch, clock } = this.#options
    if (!this.#closed) tell({ kind: 'moved', epoch, at: clock(), id, name, incoming, stats, result })
  }

  /** Its job is over and it is still here. One that is paused by the move itself is on its way: the last word is not spoken (NA-18). */
  async #stays(domain: Domain): Promise<boolean> {
    try {
      const { state, reason } = await this.#options.virt.domainState(domain)
      const byMove = state === 'paused' && (reason === 'migration' || reason === 'post-copy' || reason === 'post-copy-failed')
      return state !== 'off' && state !== 'shutting-down' && !byMove
    } catch (err) {
      this.#failed(err, domain)
      return false
    }
  }

  async #read(domain: Domain, flags = 0): Promise<Stats | undefined> {
    try {
      const { type, params } = await this.#options.virt.call(procedures.domainGetJobStats, { domain, flags })
      return jobFigures(type, params)
    } catch (err) {
      this.#failed(err, domain)
      return undefined
    }
  }

  #failed(err: unknown, domain: Domain): void {
    if (!(err instanceof LibvirtError)) throw err
    const expected = ['closed', 'keepalive', 'protocol', 'no-domain', 'invalid-state', 'unsupported'].includes(err.code)
    if (!expected && !this.#closed) this.#options.log(err, domain)
  }
}
