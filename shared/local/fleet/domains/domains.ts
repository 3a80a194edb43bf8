// The domains of one host: what libvirt keeps, and what it tells. No wire, no Nova.
import type { ServedEvent } from 'node-libvirt/server'
import type { WorldClock } from '../../openstack/index.ts'
import { isActive, reference, type DomainSpec, type SimDomain } from './domain.ts'
import { iterationAt, jobParams, progress } from './job.ts'

type Lifecycle = Extract<ServedEvent, { kind: 'lifecycle' }>
type Named<E> = Extract<Lifecycle, { event: E }>['detail']
export type StopDetail = Extract<Named<'stopped'>, string>
type WatchdogAction = Extract<ServedEvent, { kind: 'watchdog' }>['action']
type PauseReason = 'user' | 'io-error' | 'watchdog'

const pauseDetail = { user: 'paused', 'io-error': 'io-error', watchdog: 'watchdog' } as const
const roundMs = 1000

export class Domains {
  readonly #clock: WorldClock
  readonly #all = new Map<string, SimDomain>()
  readonly #listeners = new Set<(event: ServedEvent) => void>()
  #nextId = 1

  constructor(clock: WorldClock) {
    this.#clock = clock
  }

  all(): SimDomain[] {
    return [...this.#all.values()]
  }

  find(uuid: string): SimDomain | undefined {
    return this.#all.get(uuid)
  }

  /** Returns what ends it. */
  listen(heard: (event: ServedEvent) => void): () => void {
    this.#listeners.add(heard)
    return () => this.#listeners.delete(heard)
  }

  tell(event: ServedEvent): void {
    for (const heard of this.#listeners) heard(event)
  }

  define(spec: DomainSpec, { transient = false } = {}): SimDomain {
    const known = this.#all.get(spec.uuid)
    if (known) return Object.assign(known, spec)
    const domain: SimDomain = { ...spec, id: -1, state: { state: 'off', reason: 'unknown' }, transient }
    this.#all.set(spec.uuid, domain)
    if (!transient) this.#lifecycle(domain, 'defined', 'added')
    return domain
  }

  start(domain: SimDomain): void {
    if (isActive(domain)) return
    domain.id = this.#nextId++
    domain.state = { state: 'running', reason: 'booted' }
    this.#lifecycle(domain, 'resumed', 'unpaused') // QEMU's first breath, as the real one tells it
    this.#lifecycle(domain, 'started', 'booted')
  }

  stop(domain: SimDomain, detail: StopDetail): void {
    if (!isActive(domain)) return
    this.#off(domain, detail)
    if (domain.transient) this.#all.delete(domain.uuid)
  }

  pause(domain: SimDomain, reason: PauseReason): void {
    if (domain.state.state !== 'running') return
    domain.state = { state: 'paused', reason }
    this.#lifecycle(domain, 'suspended', pauseDetail[reason])
  }

  resume(domain: SimDomain): void {
    if (domain.state.state !== 'paused') return
    domain.state = { state: 'running', reason: 'unpaused' }
    this.#lifecycle(domain, 'resumed', 'unpaused')
  }

  reset(domain: SimDomain): void {
    if (isActive(domain)) this.tell({ kind: 'reboot', domain: reference(domain) })
  }

  /** The watchdog of the guest, and what it does to the guest. */
  fireWatchdog(domain: SimDomain, action: WatchdogAction): void {
    this.tell({ kind: 'watchdog', domain: reference(domain), action })
    if (action === 'reset') this.reset(domain)
    if (action === 'pause') this.pause(domain, 'watchdog')
    if (action === 'poweroff') this.stop(domain, 'shutdown')
  }

  /** libvirt tells it twice, the second time with the reason; QEMU has paused the guest. */
  failDisk(domain: SimDomain, device: string, path: string, reason: string): void {
    const error = { domain: reference(domain), path, device, action: 'pause' } as const
    this.tell({ kind: 'io-error', ...error })
    this.tell({ kind: 'io-error-reason', ...error, reason })
    this.pause(domain, 'io-error')
  }

  undefine(domain: SimDomain): void {
    if (isActive(domain)) {
      domain.transient = true // libvirt, too, keeps a running domain until it ends
    } else this.#all.delete(domain.uuid)
    this.#lifecycle(domain, 'undefined', 'removed')
  }

  /** Without a word: nobody is left who could say it. */
  vanish(): void {
    for (const domain of this.#all.values()) delete domain.job
    this.#all.clear()
  }

  beginMove(domain: SimDomain, durationMs: number): void {
    const job = { startedMs: this.#clock.now(), durationMs }
    domain.job = job
    const rounds = (told: number): void => {
      if (domain.job !== job) return
      const iteration = iterationAt(progress(job, this.#clock.now()))
      if (iteration > told) this.tell({ kind: 'migration-iteration', domain: reference(domain), iteration })
      this.#clock.after(roundMs, () => rounds(iteration))
    }
    rounds(0)
  }

  /** At the source, of a domain that has left. */
  endMove(domain: SimDomain): void {
    const { job } = domain
    if (!job) return
    delete domain.job
    const params = jobParams(domain, job, this.#clock.now(), 'out')
    domain.state = { state: 'paused', reason: 'migration' }
    this.#lifecycle(domain, 'suspended', 'migrated')
    const left = reference(domain)
    this.#off(domain, 'migrated')
    this.#all.delete(domain.uuid)
    this.tell({ kind: 'job-completed', domain: left, params })
    if (!domain.transient) this.#lifecycle(domain, 'undefined', 'removed')
  }

  /** A move that came to nothing: QEMU tells nobody, the job is simply over. */
  failMove(domain: SimDomain): void {
    delete domain.job
  }

  /** At the target: paused until everything is here. */
  arrive(spec: DomainSpec): SimDomain {
    const domain: SimDomain = { ...spec, id: this.#nextId++, state: { state: 'paused', reason: 'migration' }, transient: false }
    this.#all.set(spec.uuid, domain)
    this.#lifecycle(domain, 'started', 'migrated')
    return domain
  }

  arrived(domain: SimDomain, durationMs: number): void {
    const job = { startedMs: this.#clock.now() - durationMs, durationMs }
    domain.lastJob = jobParams(domain, job, this.#clock.now(), 'in')
    domain.state = { state: 'running', reason: 'migrated' }
    this.#lifecycle(domain, 'resumed', 'migrated')
    this.#lifecycle(domain, 'defined', 'added')
  }

  turnBack(domain: SimDomain): void {
    this.#off(domain, 'failed')
    this.#all.delete(domain.uuid)
  }

  #off(domain: SimDomain, detail: StopDetail): void {
    this.#lifecycle(domain, 'stopped', detail)
    domain.id = -1
    delete domain.job
    domain.state = { state: 'off', reason: detail }
  }

  #lifecycle<E extends Extract<Lifecycle['event'], string>>(domain: SimDomain, event: E, detail: Named<E>): void {
    this.tell({ kind: 'lifecycle', domain: reference(domain), event, detail } as ServedEvent) // the detail is of this event's list
  }
}
