import type { OVSNode } from '../schema/ovs-node.ts'
import type { BondView, BridgeView, HostView, NetworkView, Part, Tone } from './types.ts'

type Status = NonNullable<OVSNode['status']>
type Bond = NonNullable<NonNullable<Status['interfaces']>['bonds']>[number]
type Card = NonNullable<NonNullable<Status['interfaces']>['physical']>[number]
type Bridge = NonNullable<Status['bridges']>[number]
type Issue = NonNullable<Status['issues']>[number]

const tones: Record<string, Tone> = {
  Active: 'ok',
  Up: 'ok',
  Degraded: 'warn',
  Down: 'bad',
  AdminDown: 'rest',
  Missing: 'bad',
  Error: 'bad',
  Unknown: 'warn',
  Info: 'rest',
  Warning: 'warn',
  Critical: 'bad'
}
const toneOf = (status: string | undefined): Tone => tones[status ?? 'Unknown'] ?? 'warn'
const joined = (parts: Array<string | false | undefined>): string => parts.filter(Boolean).join(' · ')

/** The worst of what the agent of the switch says, in one line. */
export function networkOf(node: OVSNode | undefined): HostView['network'] {
  if (!node?.status) return { tone: 'ok', line: '' }
  const ready = node.status.conditions?.find(({ type }) => type === 'Ready')
  if (ready?.status === 'Unknown') return { tone: 'warn', line: 'the OVS agent is silent' }
  const bonds = node.status.interfaces?.bonds ?? []
  const bad = bonds.find(({ status }) => status === 'Down') ?? bonds.find(({ status }) => toneOf(status) !== 'ok')
  if (bad)
    return {
      tone: toneOf(bad.status),
      line: `${bad.name} ${bad.activeMembers ?? 0} of ${bad.members ?? 0}`,
      why: storyOf(bad, node.status.interfaces?.physical ?? [])
    }
  const bridge = node.status.bridges?.find(({ status }) => toneOf(status) === 'bad')
  if (bridge) return { tone: 'bad', line: `bridge ${bridge.name} ${(bridge.status ?? 'unknown').toLowerCase()}` }
  if (node.status.ovnController?.connected === false) return { tone: 'warn', line: 'cut off from OVN' }
  const issue = node.status.issues?.find(({ severity }) => severity === 'Critical')
  return issue ? { tone: 'bad', line: issue.message } : { tone: 'ok', line: '' }
}

/** Which cables, and what carries the traffic now. */
function storyOf({ name, activeMembers = 0, members = 0 }: Bond, cards: readonly Card[]): string {
  const own = cards.filter(({ bond }) => bond === name)
  const namesOf = (up: boolean): string =>
    own
      .filter(({ status }) => (status === 'Up') === up)
      .map(card => card.name)
      .join(', ')
  const lost = namesOf(false) || `${members - activeMembers} of ${members} links`
  if (activeMembers === 0) return `${name} carries nothing: ${lost} down. The host is cut off.`
  return `${name}: ${lost} down. Traffic runs on ${namesOf(true) || 'the others'}; the VMs stay.`
}

const cardOf = ({ name, status, speed, mtu, lacpCurrent, error }: Card): Part => ({
  name,
  tone: toneOf(status),
  line: joined([
    (status ?? 'Unknown') === 'AdminDown' ? 'switched off' : (status ?? 'Unknown'),
    speed,
    mtu !== undefined && `MTU ${mtu}`,
    lacpCurrent === false && 'LACP partner not heard',
    error
  ])
})

const bondOf = ({ name, status, members = 0, activeMembers = 0, mode, lacp, activeMember }: Bond, cards: Card[]): BondView => ({
  name,
  tone: toneOf(status),
  line: joined([
    status ?? 'Unknown',
    `${activeMembers} of ${members} links usable`,
    mode,
    lacp && lacp !== 'off' && `LACP ${lacp}`,
    activeMember && mode === 'active-backup' && `on ${activeMember}`
  ]),
  links: cards.filter(({ bond }) => bond === name).map(cardOf)
})

const bridgeOf = ({ name, status, ports, flows, reason }: Bridge, bonds: BondView[]): BridgeView => ({
  name,
  tone: toneOf(status),
  line: joined([status ?? 'Unknown', ports !== undefined && `${ports} ports`, flows !== undefined && `${flows} flows`, reason]),
  bonds
})

function ovnOf(ovn: NonNullable<Status['ovnController']>): Part {
  const { connected, sbConnection, encap, chassisId } = ovn
  const word = connected === undefined ? 'cannot be asked' : connected ? 'connected' : 'cut off'
  return {
    name: 'ovn-controller',
    tone: connected === true ? 'ok' : 'warn',
    line: joined([
      word,
      sbConnection,
      encap?.type && `${encap.type}${encap.ip ? ` at ${encap.ip}` : ''}`,
      chassisId && `chassis ${chassisId}`
    ])
  }
}

function issueOf({ severity, message, detectedAt }: Issue): NetworkView['issues'][number] {
  return { tone: toneOf(severity), line: message, ...(detectedAt !== undefined && { since: detectedAt }) }
}

/** The whole network of a host, as the cables run: card, bond, bridge. Undefined where no agent told anything. */
export function networkDetail(node: OVSNode | undefined): NetworkView | undefined {
  if (!node?.status) return undefined
  const { interfaces, bridges = [], ovnController, issues = [] } = node.status
  const bonds = (interfaces?.bonds ?? []).map(bond => ({ bridge: bond.bridge, view: bondOf(bond, interfaces?.physical ?? []) }))
  const names = new Set(bridges.map(({ name }) => name))
  const { tone, line } = networkOf(node)
  return {
    host: node.metadata.name,
    tone,
    line: line || 'healthy',
    bridges: bridges.map(bridge =>
      bridgeOf(
        bridge,
        bonds.filter(bond => bond.bridge === bridge.name).map(({ view }) => view)
      )
    ),
    bonds: bonds.filter(({ bridge }) => !bridge || !names.has(bridge)).map(({ view }) => view),
    ...(ovnController && { ovn: ovnOf(ovnController) }),
    issues: issues.map(issueOf)
  }
}
