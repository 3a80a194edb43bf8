// virDomainState, and for each state the reasons that it can have
import { valueOf, type Word, word } from './words.ts'

const reasons = {
  'no-state': ['unknown'],
  running: [
    'unknown',
    'booted',
    'migrated',
    'restored',
    'from-snapshot',
    'unpaused',
    'migration-canceled',
    'save-canceled',
    'wakeup',
    'crashed',
    'post-copy',
    'post-copy-failed'
  ],
  blocked: ['unknown'],
  paused: [
    'unknown',
    'user',
    'migration',
    'save',
    'dump',
    'io-error',
    'watchdog',
    'from-snapshot',
    'shutting-down',
    'snapshot',
    'crashed',
    'starting-up',
    'post-copy',
    'post-copy-failed'
  ],
  'shutting-down': ['unknown', 'user'],
  off: ['unknown', 'shutdown', 'destroyed', 'crashed', 'migrated', 'saved', 'failed', 'from-snapshot', 'daemon'],
  crashed: ['unknown', 'panicked'],
  'pm-suspended': ['unknown']
} as const

type Reasons = typeof reasons
export type DomainStateName = keyof Reasons

export type DomainState =
  | { [State in DomainStateName]: { readonly state: State; readonly reason: Word<Reasons[State]> } }[DomainStateName]
  | { readonly state: number; readonly reason: number }

const states = Object.keys(reasons) as DomainStateName[]

export function domainStateName(state: number): DomainStateName | number {
  return states[state] ?? state
}

export function domainState(state: number, reason: number): DomainState {
  const name = states[state]
  if (name === undefined) return { state, reason }
  return { state: name, reason: word(reasons[name], reason) } as DomainState // the reason is of this state's list
}

/** The way back: state and reason as libvirt numbers them. */
export function domainStateNumbers({ state, reason }: DomainState): [state: number, reason: number] {
  if (typeof state === 'number') return [state, reason]
  return [states.indexOf(state), valueOf<readonly string[]>(reasons[state], reason)]
}
