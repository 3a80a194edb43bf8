// Between libvirt, which must never wait, and a consumer that may (the spool's disk): bounded, and honest about what it dropped (NA-10).
import type { Fact } from './fact.ts'

export interface QueueOptions {
  /** So many facts may wait. */
  capacity: number
  /** The consumer comes to the mark of what was dropped: everything dropped is older than a listing that begins now. */
  onOverflow: () => void
}

const lasting = new Set(['stopped', 'crashed', 'undefined'])

/** Told again by a listing, or by a later fact of the same kind. How a domain ended is told by nothing else. */
export function isCoalescable(fact: Fact): boolean {
  if (fact.kind === 'event') return fact.event.kind === 'lifecycle' ? !lasting.has(String(fact.event.event)) : !isFault(fact)
  return fact.kind === 'moving' || fact.kind === 'link' || (fact.kind === 'domain' && fact.read !== undefined)
}

/** A listing does not show that these have been. */
const faults = new Set(['reboot', 'watchdog', 'io-error-reason', 'control-error', 'memory-failure'])
const isFault = (fact: Extract<Fact, { kind: 'event' }>): boolean => faults.has(fact.event.kind)

/** Of these the newest is enough, when there is no room for all: a disk that fails tells of it without end. */
function repeatKey(fact: Fact): string | undefined {
  if (fact.kind === 'event' && isFault(fact)) return `${fact.event.kind} ${fact.event.domain.uuid}`
  return fact.kind === 'unreachable' ? fact.kind : undefined
}

/** Several speakers, one listener. */
export class FactQueue implements AsyncIterable<Fact> {
  readonly #options: QueueOptions
  #facts: Fact[] = []
  #mark: Extract<Fact, { kind: 'overflow' }> | undefined
  #end: { error?: unknown } | undefined
  #changed = Promise.withResolvers<void>()

  constructor(options: QueueOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#facts.length
  }

  push(fact: Fact): void {
    if (this.#end !== undefined) return
    this.#facts.push(fact)
    if (this.#facts.length > this.#options.capacity) this.#drop()
    this.#notify()
  }

  end(error?: unknown): void {
    this.#end ??= { error }
    this.#notify()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Fact> {
    for (;;) {
      const fact = this.#facts.shift()
      if (fact !== undefined) {
        if (fact === this.#mark) {
          this.#mark = undefined
          this.#options.onOverflow()
        }
        yield fact
      } else if (this.#end !== undefined) {
        if (this.#end.error !== undefined) throw this.#end.error
        return
      } else await this.#changed.promise
    }
  }

  /** The oldest that may go, else the oldest that is repeated. A mark stands where the first of them stood. */
  #drop(): void {
    const coalescable = this.#facts.findIndex(isCoalescable)
    const oldest = coalescable === -1 ? this.#oldestRepeated() : coalescable
    const gone = this.#facts[oldest]
    if (gone === undefined) return // only ends are left, and a domain has few of them
    if (this.#mark === undefined) {
      this.#mark = { kind: 'overflow', epoch: 'epoch' in gone ? gone.epoch : 0, dropped: 1 }
      this.#facts[oldest] = this.#mark
    } else {
      this.#mark.dropped += 1
      this.#facts.splice(oldest, 1)
    }
  }

  #oldestRepeated(): number {
    const last = new Map(this.#facts.map((fact, at) => [repeatKey(fact), at]))
    return this.#facts.findIndex((fact, at) => repeatKey(fact) !== undefined && last.get(repeatKey(fact)) !== at)
  }

  #notify(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }
}
