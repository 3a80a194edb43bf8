// Everything the agent tells goes through here: numbered, addressed, and kept until the broker has taken it (NA-13, NA-14)
import type { Emit } from '../../shared/runtime/emitter.ts'
import type { Spool } from '../../shared/runtime/spool.ts'
import type { Message } from './to-event.ts'

export interface Sender {
  /** In order, never lost. */
  tell: (message: Message, epoch: number) => Promise<void>
  /** At once, past everything that waits; of no use later. */
  beat: (message: Message, epoch: number) => Promise<void>
  readonly sequence: number
}

interface Options {
  host: string
  spool: Pick<Spool, 'put'>
  emit: Emit
  /** The first number. It must be above all of earlier processes. */
  first: number
  /** Numbers up to this one may be used: kept, so that a later process begins above them even if the clock was set back. */
  reserve: (upTo: number) => void
}

const block = 10_000

export function sender({ host, spool, emit, first, reserve }: Options): Sender {
  let sequence = first
  let reserved = first
  const last = new Map<string, string>()
  /** 16 digits for the next 250 years, so that texts sort like numbers. */
  const stamp = ({ kind, data, server, chain }: Message, epoch: number) => {
    sequence += 1
    if (sequence > reserved) reserve((reserved = sequence + block))
    const number = String(sequence).padStart(16, '0')
    const after = chain === undefined ? undefined : last.get(chain)
    if (chain !== undefined) last.set(chain, number)
    return {
      kind,
      data: after === undefined ? data : { ...data, after },
      id: `${host}/${epoch}/${sequence}`,
      subject: server === undefined ? host : `${host}/${server}`,
      partitionkey: host,
      sequence: number
    }
  }
  return {
    tell: (message, epoch) =>
      spool.put({ ...stamp(message, epoch), ...(message.supersedes !== undefined && { supersedes: message.supersedes }) }),
    beat: (message, epoch) => emit(stamp(message, epoch)),
    get sequence() {
      return sequence
    }
  }
}
