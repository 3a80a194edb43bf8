// What the control door of a simulated fleet says, and where it is found: the platform serves it, command line and page call it.

/** Lies beside the kubeconfig that `npm start` prints, and is readable by its owner alone. */
export interface SimulatorAddress {
  url: string
  /** To be sent with every request: `Authorization: Bearer TOKEN`. */
  token: string
}

/** `/tmp/drover-x/kubeconfig` → `/tmp/drover-x/sim.json`; `my.db.kubeconfig` → `my.db.sim.json`; any other name gets `.sim.json` behind it. */
export const simulatorFileOf = (kubeconfig: string): string =>
  /(^|[/.])kubeconfig$/.test(kubeconfig) ? kubeconfig.replace(/kubeconfig$/, 'sim.json') : `${kubeconfig}.sim.json`

/** One row of `GET /actions`. */
export interface ShownAction {
  name: string
  /** One sentence, for help and page. */
  does: string
  args: ShownArgument[]
  /** The action that undoes this one. */
  undo?: string
  /** What it is about, so that a page can offer it there: the first argument is the name of one of these. */
  about: 'host' | 'vm' | 'zone' | 'cloud' | 'fleet'
}

export interface ShownArgument {
  name: string
  type: 'string' | 'number'
  required: boolean
  means: string
  /** If only some words are possible. */
  oneOf?: string[]
  default?: string | number
}

/** The answer of `POST /actions/NAME`; with any other status than 200, `error` is a sentence for people. */
export interface Done {
  did?: string
  error?: string
}

/** `GET /fleet` */
export interface ShownFleet {
  seed: number
  at: string
  nova: 'up' | 'slow' | 'down'
  hosts: ShownHost[]
  /** What was done and not undone: the actions that would undo it. */
  undo: Array<{ name: string; args: Record<string, string | number> }>
}

export interface ShownHost {
  name: string
  zone: string
  block: string
  power: 'on' | 'off'
  libvirt: 'running' | 'stopped'
  agents: { hypervisor: 'running' | 'stopped' | 'none'; ovs: 'running' | 'stopped' | 'none' }
  links: Array<{ name: string; bond: string; up: boolean }>
  vms: Array<{ id: string; name: string; state: string }>
}

/** One line of `GET /history`, the oldest first. */
export interface HistoryLine {
  at: string
  what: string
}
