// Whether the daemons live (OV-24). A frozen ovs-vswitchd changes nothing in the database, so it has to be asked.
import type { Daemons } from '../daemons.ts'
import { poll } from '../inbox.ts'
import type { DaemonState, Fact, OvnState } from '../observed.ts'
import { UnixctlError } from '../wire/unixctl.ts'

const timeoutsInARow = 2

export function vswitchdLiveness(daemons: Daemons, everyMs: number, signal: AbortSignal): AsyncGenerator<Fact> {
  let late = 0
  let state: DaemonState = 'unasked'
  return poll(
    () => everyMs,
    signal,
    async () => {
      const answer = await outcome(() => daemons.ask('ovs-vswitchd', 'version'))
      late = answer === 'timeout' ? late + 1 : 0
      if (answer === 'timeout') state = late >= timeoutsInARow ? 'not-responding' : state
      else if (typeof answer === 'string') state = answer === 'no-folder' ? 'unknown' : 'not-running'
      else state = 'responding'
      return { vswitchd: state }
    }
  )
}

export function ovnLiveness(daemons: Daemons, everyMs: number, signal: AbortSignal): AsyncGenerator<Fact> {
  let late = 0
  let state: OvnState = 'unasked'
  return poll(
    () => everyMs,
    signal,
    async () => {
      const answer = await outcome(() => daemons.ask('ovn-controller', 'connection-status'))
      late = answer === 'timeout' ? late + 1 : 0
      if (answer === 'timeout') state = late >= timeoutsInARow ? 'not-running' : state
      else if (typeof answer === 'string') state = answer === 'no-folder' ? 'unknown' : 'not-running'
      else state = answer.text.trim() === 'connected' ? 'connected' : 'not-connected'
      return { ovn: state }
    }
  )
}

/** A daemon that answers at all is alive, even if it refuses. */
async function outcome(question: () => Promise<string>): Promise<{ text: string } | UnixctlError['code']> {
  try {
    return { text: await question() }
  } catch (error) {
    if (!(error instanceof UnixctlError)) throw error
    return error.code === 'rejected' ? { text: '' } : error.code
  }
}
