import type { Machine } from '../schema/machine.ts'
import type { NetworkConfiguration } from '../schema/network-configuration.ts'
import type { Merged } from './merge.ts'

/** What can be known of a thing that a Machine refers to. Not asked and not readable are the same here: nothing is said of it (A19). */
export type Known<T> = { known: true; value: T | undefined } | { known: false }

export interface ClusterOptions {
  architecture: 'amd64' | 'arm64'
  allowI440fx: boolean
}

/** What a rule may look up besides the Machine itself. */
export interface MachineFacts extends ClusterOptions {
  network(name: string): Known<NetworkConfiguration>
  storageClass(name: string): Known<true>
  secret(name: string): Known<true>
  /**
   * Namespaces that the requesting user may clone from (A14). Only admission knows a user; left out, the sources were judged when
   * the object was stored.
   */
  mayCloneFrom?: ReadonlySet<string>
}

/** For whoever checks a file and has no cluster at hand. */
export const noFacts: MachineFacts = {
  architecture: 'amd64',
  allowI440fx: false,
  network: () => ({ known: false }),
  storageClass: () => ({ known: false }),
  secret: () => ({ known: false })
}

/** What every rule is asked about; `old` makes it an update. */
export interface MachineAsked {
  machine: Machine
  merged: Merged
  facts: MachineFacts
  old?: Machine | undefined
}
