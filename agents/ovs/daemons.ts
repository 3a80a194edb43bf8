// The daemons of this node, each at its place. Every call is timed (OV-71), and one agent's calls are not mixed with another's.
import { join } from 'node:path'
import type { Question } from './wire/openflow-statistics.ts'
import { type Answers, readStatistics } from './wire/openflow.ts'
import { type CommandOf, type Daemon, UnixctlError, ask, pidOf } from './wire/unixctl.ts'

/** Runs a call and notes how long it took, whether it succeeded or not. */
export type Timed = <T>(peer: string, call: string, work: () => Promise<T>) => Promise<T>

export interface Daemons {
  ask<D extends Daemon>(daemon: D, command: CommandOf<D>, args?: readonly string[]): Promise<string>
  /** Another one after each restart; undefined while there is none. */
  pid(daemon: Daemon): Promise<number | undefined>
  /** Of one bridge, by OpenFlow. */
  statistics<const Q extends readonly Question<unknown>[]>(bridge: string, questions: Q): Promise<Answers<Q>>
}

export interface Folders {
  readonly ovsRunDir: string
  readonly ovnRunDir: string
}

const ifNone = (error: unknown): undefined => {
  if (!(error instanceof UnixctlError)) throw error
}

export const daemonsOf = ({ ovsRunDir, ovnRunDir }: Folders, timed: Timed = (_peer, _call, work) => work()): Daemons => ({
  ask: (daemon, command, args) =>
    timed(daemon, command, () => ask(daemon === 'ovn-controller' ? ovnRunDir : ovsRunDir, daemon, command, args)),
  pid: daemon => pidOf(daemon === 'ovn-controller' ? ovnRunDir : ovsRunDir, daemon).catch(ifNone),
  statistics: (bridge, questions) =>
    timed('openflow', 'statistics', () => readStatistics(join(ovsRunDir, `${bridge}.mgmt`), questions))
})
