/** How often a datapath found a packet's flow, had to ask ovs-vswitchd, or could not even ask. */
export interface Lookups {
  readonly hit: bigint
  readonly missed: bigint
  readonly lost: bigint
}

/** By datapath, from `dpctl/show`: its name at the begin of a line, its lookups indented below. For /metrics alone; health is not judged from text. */
export function readLookups(text: string): ReadonlyMap<string, Lookups> {
  const found = new Map<string, Lookups>()
  let datapath = ''
  for (const line of text.split('\n')) {
    datapath = /^(\S+):\s*$/.exec(line)?.[1] ?? datapath
    const [, hit, missed, lost] = /^\s+lookups: hit:(\d+) missed:(\d+) lost:(\d+)/.exec(line) ?? []
    if (hit !== undefined && missed !== undefined && lost !== undefined)
      found.set(datapath, { hit: BigInt(hit), missed: BigInt(missed), lost: BigInt(lost) })
  }
  return found
}
