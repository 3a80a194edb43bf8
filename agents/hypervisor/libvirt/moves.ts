// Watching migrations at both ends (NA-17…19)
import { LibvirtError, procedures, type Domain, type DomainEvent, type Libvirt } from 'node-libvirt'
import type { Fact, MoveResult, Stats } from './fact.ts'
import { isMigration, jobFigures } from './job-stats.ts'

interface Move {
  domain: Domain
  samples: number
  phase: 'Running' | 'PostCopy'
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
  /** The wait before the n-th sample. */
  intervalMs?: (sample: number) => number
}

/** One sample a second at first, when a fast move is over soon, then fewer. */
const pace = (sample: number): number => (sample < 10 ? 1000 : 3000)

export class Moves {
  readonly #options: Options
  readonly #moves = new Map<string, Move>()
  /** Arriving here, by domain. */
  readonly #arriving = new Set<string>()
  #closed = false

  constructor(options: Options) {
    this.#options = options
  }

  /** The domains that are on their way out. */
  get size(): number {
    return this.#moves.size
  }

  see(event: DomainEvent): void {
    const { domain } = event
    const move = this.#moves.get(domain.uuid)
    if (event.kind === 'migration-iteration') this.#begin(domain)
    else if (event.kind === 'job-completed') this.#completed(domain, jobFigures('completed', event.params))
    else if (event.kind === 'lifecycle') {
      const what = `${event.event}/${event.detail}`
      if (what === 'suspended/post-copy' && move) move.phase = 'PostCopy'
      if (what === 'stopped/migrated') this.#left(domain)
      else if (event.event === 'stopped' && move) this.#end(move, 'failed')
      if (what === 'started/migrated') this.#arriving.add(domain.uuid)
      if (what === 'resumed/migrated') void this.#arrived(domain)
      if (event.event === 'stopped' && this.#arriving.delete(domain.uuid))
        this.#tell(domain, { type: 'failed', operation: 'migration_in' }, true, 'failed')
    }
  }

  /** A job that was under way before this connection began, by Nova's record or by the snapshot. */
  async look(domain: Domain): Promise<void> {
    const stats = await this.#read(domain)
    if (stats !== undefined && isMigration(stats) && stats['type'] !== 'none') this.#begin(domain)
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
    void this.#sample(move)
  }

  async #sample(move: Move): Promise<void> {
    const { intervalMs = pace, tell, epoch, clock } = this.#options
    const stats = await this.#read(move.domain)
    if (this.#moves.get(move.domain.uuid) !== move) return
    const type = stats?.['type']
    if (stats !== undefined && (type === 'bounded' || type === 'unbounded')) {
      move.stats = { ...stats, phase: move.phase }
      tell({
        kind: 'moving',
        epoch,
        at: clock(),
        id: move.domain.uuid,
        name: move.domain.name,
        incoming: false,
        stats: move.stats
      })
    } else if (!move.left && move.samples > 0 && stats !== undefined && (await this.#runs(move.domain))) {
      return this.#end(move, type === 'cancelled' ? 'cancelled' : 'failed') // an aborted move tells nothing else
    }
    move.samples += 1
    // A domain that left and whose job never completed: the entry is released all the same
    if (move.left && move.samples > 60) return this.#end(move, 'failed')
    move.timer = setTimeout(() => void this.#sample(move), intervalMs(move.samples))
  }

  #left(domain: Domain): void {
    const move = this.#moves.get(domain.uuid) ?? { domain, samples: 0, phase: 'Running', stats: {}, left: true }
    move.left = true
    this.#moves.set(domain.uuid, move)
    if (move.stats['type'] === 'completed') this.#end(move, 'success')
  }

  #completed(domain: Domain, stats: Stats): void {
    const move = this.#moves.get(domain.uuid)
    if (!isMigration(stats) || stats['operation'] === 'migration_in') return
    if (move?.left === true) return this.#end({ ...move, stats }, 'success')
    if (move) move.stats = stats
  }

  async #arrived(domain: Domain): Promise<void> {
    this.#arriving.delete(domain.uuid)
    const stats = await this.#read(domain, procedures.JOB_STATS.completed) // of a running move it may not be asked here
    this.#tell(domain, { ...stats, type: 'completed', operation: 'migration_in' }, true, 'success')
  }

  #end(move: Move, result: MoveResult): void {
    clearTimeout(move.timer)
    this.#moves.delete(move.domain.uuid)
    this.#tell(move.domain, { ...move.stats, type: result === 'success' ? 'completed' : result }, false, result)
  }

  #tell({ uuid: id, name }: Domain, stats: Stats, incoming: boolean, result: MoveResult): void {
    const { tell, epoch, clock } = this.#options
    if (!this.#closed) tell({ kind: 'moved', epoch, at: clock(), id, name, incoming, stats, result })
  }

  async #runs(domain: Domain): Promise<boolean> {
    try {
      const { state } = await this.#options.virt.domainState(domain)
      return state !== 'off' && state !== 'shutting-down'
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
