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
  /** The first number. It must be above all of earlier processes: microseconds of the start are. */
  first: number
}

export function sender({ host, spool, emit, first }: Options): Sender {
  let sequence = first
  /** 16 digits for the next 250 years, so that texts sort like numbers. */
  const stamp = ({ kind, data, server }: Message, epoch: number) => {
    sequence += 1
    return {
      kind,
      data,
      id: `${host}/${epoch}/${sequence}`,
      subject: server === undefined ? host : `${host}/${server}`,
      partitionkey: host,
      sequence: String(sequence).padStart(16, '0')
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
