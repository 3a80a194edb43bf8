// What a person sees of the fleet: the words of the page and of the command line. Plain data, so that it travels as JSON.

/** Colour never stands alone: each tone has a word beside it. */
export type Tone = 'ok' | 'busy' | 'rest' | 'warn' | 'bad'

export interface HostView {
  name: string
  zone: string
  block: string
  tone: Tone
  /** The state in one or two words, such as `Draining`. */
  word: string
  /** One short line that says more. */
  line: string
  /** How full the host is, or how far its drain; 0…100. */
  percent: number
  vms: number
  network: { tone: Tone; line: string }
  /** Why somebody has to look; left out when nobody has to. */
  needsPerson?: string
  drain?: DrainView
  /** For the search: labels, addresses, names of VMs. */
  find: string
}

export interface DrainView {
  eviction: string
  host: string
  tone: Tone
  word: string
  total: number
  done: number
  running: number
  waiting: number
  blocked: number
  percent: number
  line: string
  eta?: string
}

export interface MachineView {
  namespace: string
  name: string
  tone: Tone
  word: string
  line: string
  node: string
  ips: string[]
}

export interface Happening {
  id: string
  time: string
  tone: Tone
  about: string
  text: string
}

export interface ConditionView {
  type: string
  tone: Tone
  status: string
  reason: string
  sentence: string
  since: string
}

export interface MoveView {
  id: string
  name: string
  tone: Tone
  word: string
  line: string
  percent?: number
}

/** Everything about one host. */
export interface HostDetail {
  host: HostView
  /** The whole state as sentences, the most important first. */
  story: string[]
  facts: Array<[name: string, value: string]>
  conditions: ConditionView[]
  waiting: Array<{ who: string; what: string; since?: string }>
  drift: string[]
  moves: MoveView[]
  instances: Array<{ id: string; name: string; word: string }>
  bonds: Array<{ name: string; tone: Tone; line: string }>
  bridges: Array<{ name: string; tone: Tone; line: string }>
  timeline: Happening[]
}
