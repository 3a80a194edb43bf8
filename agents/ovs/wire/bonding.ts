// /proc/net/bonding/<bond>, which the kernel writes for people: blocks of "Key: value", a block for the bond and one for each member.

export type KernelMember = {
  readonly name: string
  readonly up: boolean
  readonly mbps?: number
  readonly aggregator?: string
  readonly partnerMac?: string
}
export type KernelBond = {
  readonly mode: KernelMode
  readonly activeMember?: string
  readonly activeAggregator?: string
  readonly members: readonly KernelMember[]
}
export type KernelMode = 'balance-rr' | 'active-backup' | 'balance-xor' | 'broadcast' | '802.3ad' | 'balance-tlb' | 'balance-alb'

const modes: ReadonlyArray<[words: RegExp, mode: KernelMode]> = [
  [/round-robin/, 'balance-rr'],
  [/active-backup/, 'active-backup'],
  [/xor/, 'balance-xor'],
  [/broadcast/, 'broadcast'],
  [/802\.3ad/, '802.3ad'],
  [/adaptive load balancing/, 'balance-alb'],
  [/transmit load balancing/, 'balance-tlb']
]

/** Undefined for a text that is not of the kind. */
export function readBonding(text: string): KernelBond | undefined {
  const [head = '', ...blocks] = text.split(/^(?=Slave Interface:)/m)
  const mode = modes.find(([words]) => words.test(field(head, 'Bonding Mode') ?? ''))?.[1]
  if (mode === undefined) return undefined
  const active = field(head, 'Currently Active Slave')
  const aggregator = /Active Aggregator Info:[^]*?Aggregator ID: *(\S+)/.exec(head)?.[1]
  return {
    mode,
    members: blocks.map(readMember),
    ...(active !== undefined && active !== 'None' && { activeMember: active }),
    ...(aggregator !== undefined && { activeAggregator: aggregator })
  }
}

function readMember(block: string): KernelMember {
  const mbps = /^(\d+) Mbps$/.exec(field(block, 'Speed') ?? '')?.[1]
  const aggregator = field(block, 'Aggregator ID')
  const partner = /details partner lacp pdu:[^]*?system mac address: *(\S+)/.exec(block)?.[1]
  return {
    name: field(block, 'Slave Interface') ?? '',
    up: field(block, 'MII Status') === 'up',
    ...(mbps !== undefined && { mbps: Number(mbps) }),
    ...(aggregator !== undefined && { aggregator }),
    ...(partner !== undefined && { partnerMac: partner })
  }
}

const field = (block: string, name: string): string | undefined => new RegExp(`^\\s*${name}: *(.+?) *$`, 'm').exec(block)?.[1]
