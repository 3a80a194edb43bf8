// The client: named methods over one connection. It never reconnects by itself; see reconnecting.ts.
import type { CallOptions, Connection, Counters } from './connection.ts'
import type { Domain } from './domain.ts'
import type { DomainState } from './domain-state.ts'
import { type EventKind, eventKinds } from './events/index.ts'
import { LibvirtError } from './errors.ts'
import { connectClose } from './procedures/connect.ts'
import { connectListAllDomains } from './procedures/domain-list.ts'
import { domainGetState, domainGetXmlDesc } from './procedures/domain-read.ts'
import { ALL, nodeGetCpuStats, nodeGetMemoryStats, type NodeStat } from './procedures/node.ts'
import type { Procedure } from './procedures/procedure.ts'
import type { SubscribeOptions, Subscription, Subscriptions } from './subscriptions.ts'

/** No arguments where a row takes none; they may be left out where each has a default. */
export type CallArguments<Args> = [Args] extends [void]
  ? [args?: undefined, options?: CallOptions]
  : Partial<Args> extends Args
    ? [args?: Args, options?: CallOptions]
    : [args: Args, options?: CallOptions]

const CLOSE_TIMEOUT_MS = 1000

export class Libvirt {
  #connection: Connection
  #subscriptions: Subscriptions

  constructor(connection: Connection, subscriptions: Subscriptions) {
    this.#connection = connection
    this.#subscriptions = subscriptions
  }

  /** Settles when the connection has ended: with the reason, or undefined after close(). Never rejects. */
  get closed(): Promise<LibvirtError | undefined> {
    return this.#connection.closed
  }

  /** What was dropped, since the connection began. */
  get counters(): Readonly<Counters> {
    return this.#connection.counters
  }

  /** Any row of `procedures`, or one of your own. */
  call<Args, Result>(procedure: Procedure<Args, Result>, ...[args, options]: CallArguments<Args>): Promise<Result> {
    return this.#connection.call(procedure, (args ?? {}) as Args, options)
  }

  /** flags: LIST; none of them: every domain */
  domains({ flags, ...options }: CallOptions & { flags?: number } = {}): Promise<Domain[]> {
    return this.#connection.call(connectListAllDomains, flags === undefined ? {} : { flags }, options)
  }

  domainState(domain: Domain, options?: CallOptions): Promise<DomainState> {
    return this.#connection.call(domainGetState, { domain }, options)
  }

  domainXml(domain: Domain, options?: CallOptions): Promise<string> {
    return this.#connection.call(domainGetXmlDesc, { domain }, options)
  }

  /** Nanoseconds since the host's start, of one processor or of all together. */
  async nodeCpuStats({ cpu = ALL, ...options }: CallOptions & { cpu?: number } = {}): Promise<readonly NodeStat[]> {
    const { count } = await this.#connection.call(nodeGetCpuStats, { cpu, count: 0 }, options)
    return (await this.#connection.call(nodeGetCpuStats, { cpu, count }, options)).stats
  }

  /** KiB, of one NUMA cell or of all together. */
  async nodeMemoryStats({ cell = ALL, ...options }: CallOptions & { cell?: number } = {}): Promise<readonly NodeStat[]> {
    const { count } = await this.#connection.call(nodeGetMemoryStats, { cell, count: 0 }, options)
    return (await this.#connection.call(nodeGetMemoryStats, { cell, count }, options)).stats
  }

  /**
   * Events from now on; of every kind if none is named. Subscribe first and list afterwards, then nothing falls in between.
   * The iteration throws when the connection is lost, and ends after close().
   */
  subscribe<Kind extends EventKind = EventKind>(
    kinds: readonly Kind[] = eventKinds as Kind[],
    options?: SubscribeOptions
  ): Promise<Subscription<Kind>> {
    return this.#subscriptions.subscribe(kinds, options)
  }

  /** Says good-bye, waits a little for the answer, and rejects every call that still waits. */
  async close(): Promise<void> {
    try {
      await this.#connection.call(connectClose, undefined, { timeoutMs: CLOSE_TIMEOUT_MS })
    } catch (err) {
      if (!(err instanceof LibvirtError)) throw err // a server that is gone or mute is left without a word
    }
    this.#connection.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
