// The southbound database of OVN, read only and only if allowed (OV-44): which of our ports it knows, and how far it has come.
import { type Client, type Monitor, type OpenOptions, OvsdbError, open } from 'ovsdb-client'
import { poll } from '../inbox.ts'
import { modelOf } from '../model.ts'
import type { Binding, Fact, Observed, Southbound } from '../observed.ts'
import { candidates } from '../orphans.ts'
import { southboundTables } from '../tables.ts'

type View = Monitor<typeof southboundTables>

const claimWindowMs = 10_000

export interface SouthboundOptions {
  readonly tls: NonNullable<OpenOptions['tls']>
  readonly onStatus: NonNullable<OpenOptions['onStatus']>
  readonly everyMs: number
  readonly current: () => Observed
  readonly now: () => number
}

/** Follows the ports of this node alone: a southbound database may hold tens of thousands. */
export async function* followSouthbound(options: SouthboundOptions, signal: AbortSignal): AsyncGenerator<Fact> {
  const { current, everyMs } = options
  let following: Following | undefined
  try {
    yield* poll(
      () => everyMs,
      signal,
      async () => {
        const { tables } = current()
        if (tables) {
          const model = modelOf(tables)
          const ids = candidates(model).flatMap(({ row }) => row.external_ids.get('iface-id') ?? [])
          const wanted = { remote: model.ovn.remote, chassis: model.ovn.chassisId ?? '', ids: [...new Set(ids)].sort() }
          if (following?.remote !== wanted.remote) {
            await following?.close()
            following = wanted.remote === undefined ? undefined : new Following(wanted.remote, options)
          }
          following?.aim(wanted.chassis, wanted.ids)
        }
        return { southbound: following?.read() }
      }
    )
  } finally {
    await following?.close()
  }
}

class Following {
  readonly remote: string
  readonly #db: Client
  readonly #now: () => number
  readonly #claims = new Map<string, number[]>()
  #aim = ''
  #view: View | undefined

  constructor(remote: string, { tls, onStatus, now }: SouthboundOptions) {
    this.remote = remote
    this.#now = now
    const remotes = remote.split(',').map(text => text.trim())
    this.#db = open({ remotes, database: 'OVN_Southbound', tls, onStatus, leaderOnly: false })
  }

  aim(chassis: string, ids: readonly string[]): void {
    const aim = JSON.stringify([chassis, ids])
    if (aim === this.#aim) return
    this.#aim = aim
    this.#view?.close()
    const where = {
      Chassis: [['name', '==', chassis]],
      // any of them; without ports, a condition that no row fulfils
      Port_Binding: (ids.length > 0 ? ids : ['']).map(id => ['logical_port', '==', id] as const)
    } as const
    const view = this.#db.monitor(southboundTables, { where })
    this.#view = view
    void this.#count(view)
  }

  /** Undefined while it is not known. */
  read(): Southbound | undefined {
    const [rows, chassis, global] = [this.#view?.rows('Port_Binding'), this.#view?.rows('Chassis'), this.#view?.rows('SB_Global')]
    if (!rows || !chassis || !global) return undefined
    const [own] = chassis.keys()
    const bindings = [...rows.values()].map(({ logical_port, chassis: at, ...more }): [string, Binding] => {
      const second = own !== undefined && (more.additional_chassis.has(own) || more.requested_additional_chassis.has(own))
      const moving = second || more.additional_chassis.size > 0 || more.requested_additional_chassis.size > 0
      return [
        logical_port,
        { chassis: at === undefined ? 'none' : at === own ? 'this' : 'other', moving, claims: this.#recent(logical_port) }
      ]
    })
    const [{ nb_cfg: nbCfg } = { nb_cfg: 0n }] = global.values()
    return { nbCfg, bindings: new Map(bindings) }
  }

  async close(): Promise<void> {
    await this.#db.close()
  }

  async #count(view: View): Promise<void> {
    try {
      for await (const news of view.changes()) {
        for (const change of news.kind === 'changes' ? news.changes : []) {
          if (change.table !== 'Port_Binding' || !change.before || !change.after) continue
          if (change.before.chassis !== change.after.chassis) this.#claimed(change.after.logical_port)
        }
      }
    } catch (error) {
      if (!(error instanceof OvsdbError)) throw error // an older schema: read() goes on saying that nothing is known
    }
  }

  #claimed(port: string): void {
    this.#claims.set(port, [...(this.#claims.get(port) ?? []).slice(-9), this.#now()])
  }

  #recent(port: string): number {
    return (this.#claims.get(port) ?? []).filter(at => this.#now() - at < claimWindowMs).length
  }
}
