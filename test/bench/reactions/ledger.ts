// What became of every fault of a storm, by what was written to the status of its host. Pure.
import { idOf } from '../../../functions/ha/incident.ts'

export interface Fault {
  /** The event's. */
  id: string
  host: string
  server: string
  atMs: number
}

/** An incident as it was last seen: `count` is how many faults it took, the one that opened it among them. */
export interface Decision {
  server: string
  decisionId: string
  count: number
}

export interface Account {
  /** Ids of faults with a decision of their own. */
  decided: string[]
  /** Ids of those that a decision about an earlier fault of the same server took in. */
  coalesced: string[]
  /** Ids of those that are in no decision. Which of one server's faults it was cannot be seen, only how many. */
  lost: string[]
  /** How often decisions counted more than was sent: what was refused and sent again may be counted with each try. */
  countedTwice: number
}

export function accountOf(faults: readonly Fault[], decisions: readonly Decision[]): Account {
  const account: Account = { decided: [], coalesced: [], lost: [], countedTwice: 0 }
  const known = new Set(decisions.map(({ decisionId }) => decisionId))
  const taken = new Map<string, number>()
  for (const { server, count } of decisions) taken.set(server, (taken.get(server) ?? 0) + count - 1)
  for (const { id, host, server, atMs } of faults) {
    const free = taken.get(server) ?? 0
    if (known.has(idOf(host, server, atMs))) account.decided.push(id)
    else if (free > 0) {
      account.coalesced.push(id)
      taken.set(server, free - 1)
    } else account.lost.push(id)
  }
  for (const left of taken.values()) account.countedTwice += left
  return account
}
