import type { OVSNode } from '../schema/ovs-node.ts'
import type { HostDetail, HostView, Tone } from './types.ts'

type Bond = NonNullable<NonNullable<NonNullable<OVSNode['status']>['interfaces']>['bonds']>[number]

const tones: Record<string, Tone> = { Active: 'ok', Degraded: 'warn', Down: 'bad', Missing: 'bad', Unknown: 'warn' }
const toneOf = (status: string | undefined): Tone => tones[status ?? 'Unknown'] ?? 'warn'

function bondLine({ status, members = 0, activeMembers = 0, mode }: Bond): string {
  const usable = `${activeMembers} of ${members} links usable`
  return [status ?? 'Unknown', usable, mode].filter(Boolean).join(' · ')
}

/** The worst of what the agent of the switch says, in one line. */
export function networkOf(node: OVSNode | undefined): HostView['network'] {
  if (!node?.status) return { tone: 'ok', line: '' }
  const ready = node.status.conditions?.find(({ type }) => type === 'Ready')
  if (ready?.status === 'Unknown') return { tone: 'warn', line: 'the OVS agent is silent' }
  const bonds = node.status.interfaces?.bonds ?? []
  const bad = bonds.find(({ status }) => status === 'Down') ?? bonds.find(({ status }) => toneOf(status) !== 'ok')
  if (bad) return { tone: toneOf(bad.status), line: `${bad.name} ${bad.activeMembers ?? 0} of ${bad.members ?? 0}` }
  const bridge = node.status.bridges?.find(({ status }) => toneOf(status) === 'bad')
  if (bridge) return { tone: 'bad', line: `bridge ${bridge.name} ${(bridge.status ?? 'unknown').toLowerCase()}` }
  if (node.status.ovnController?.connected === false) return { tone: 'warn', line: 'cut off from OVN' }
  const issue = node.status.issues?.find(({ severity }) => severity === 'Critical')
  return issue ? { tone: 'bad', line: issue.message } : { tone: 'ok', line: '' }
}

export function bondsOf(node: OVSNode | undefined): HostDetail['bonds'] {
  const bonds = node?.status?.interfaces?.bonds ?? []
  return bonds.map(bond => ({ name: bond.name, tone: toneOf(bond.status), line: bondLine(bond) }))
}

export function bridgesOf(node: OVSNode | undefined): HostDetail['bridges'] {
  return (node?.status?.bridges ?? []).map(({ name, status, ports, flows, reason }) => ({
    name,
    tone: toneOf(status),
    line: [status ?? 'Unknown', ports !== undefined && `${ports} ports`, flows !== undefined && `${flows} flows`, reason]
      .filter(Boolean)
      .join(' · ')
  }))
}
