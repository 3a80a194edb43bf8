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
  /** `why`: a sentence, where there is more to tell than the line does. */
  network: { tone: Tone; line: string; why?: string }
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
  /** What the type means, in plain words. */
  means: string
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

export interface Part {
  name: string
  tone: Tone
  line: string
}

/** A bridge with the bonds in it, a bond with its network cards: as the cables run. */
export interface BondView extends Part {
  links: Part[]
}
export interface BridgeView extends Part {
  bonds: BondView[]
}

/** The network of one host, as its switch tells. */
export interface NetworkView {
  host: string
  tone: Tone
  line: string
  bridges: BridgeView[]
  /** Bonds that are in no bridge that is known. */
  bonds: BondView[]
  ovn?: Part
  issues: Array<{ tone: Tone; line: string; since?: string }>
}

/** What high availability thinks of a host, and what it did. */
export interface HaView {
  tone: Tone
  word: string
  lines: string[]
  signals: Array<{ name: string; tone: Tone; line: string; since?: string }>
  gates: Part[]
  incidents: Part[]
  history: Happening[]
}

/** An event that no function could handle. */
export interface LetterView {
  id: string
  time: string
  type: string
  subject: string
  /** Who could not handle it. */
  by: string
  /** The last answer, `none` when there was none. */
  code: string
  /** Whether what it carried was kept, so that it can be sent again. */
  kept: boolean
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
  network?: NetworkView
  ha?: HaView
  timeline: Happening[]
}

/** One message of the stream: after a `whole` one the rest are differences. */
export interface Update {
  whole?: true
  title: string
  hosts: HostView[]
  machines: MachineView[]
  happenings: Happening[]
  /** All of them, when one came or went. */
  letters?: LetterView[]
  gone: { hosts: string[]; machines: string[] }
  /** Hosts of which something changed that their tile may not show. */
  stirred: string[]
}
