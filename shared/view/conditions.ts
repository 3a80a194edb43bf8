import type { Hypervisor } from '../schema/hypervisor.ts'
import { since } from './time.ts'
import type { ConditionView, Tone } from './types.ts'

export const conditionOf = ({ status }: Hypervisor, type: string) => status?.conditions?.find(known => known.type === type)

/** Which status of a condition is the good one; of all others True is. */
const goodWhenFalse = new Set(['Onboarding', 'Evicting', 'Terminating', 'Tainted', 'HypervisorDisabled', 'OperatingSystemUpdate'])

/** What each is about, for who does not know Drover's words. */
const meanings: Record<string, string> = {
  Ready: 'takes servers',
  NetworkHealthy: 'bonds, bridges and OVN are well',
  Onboarding: 'is being brought into service',
  Offboarded: 'is out of OpenStack',
  Terminating: 'its Node is being taken away',
  Tainted: 'was edited by hand',
  TraitsUpdated: 'has the traits that are wanted',
  AggregatesUpdated: 'is in the aggregates that are wanted',
  HypervisorDisabled: 'Nova puts nothing new on it',
  Evicting: 'is being drained',
  AgentPodsEvicted: 'no agent of others runs on it any more',
  HaEnabled: 'its servers are rescued if it fails',
  'libvirtd.service': 'libvirt runs',
  'openvswitch-switch.service': 'Open vSwitch runs',
  LibVirtConnection: 'the agent reaches libvirt',
  OperatingSystemUpdate: 'is being updated',
  TLSCertificateInstalled: 'has its certificate for moves'
}

function toneOf({ type, status }: { type: string; status: string }): Tone {
  if (status === 'Unknown') return 'warn'
  if (status === (goodWhenFalse.has(type) ? 'False' : 'True')) return 'ok'
  return goodWhenFalse.has(type) ? 'busy' : 'warn'
}

export function conditionsOf({ status }: Hypervisor, now: Date): ConditionView[] {
  return (status?.conditions ?? [])
    .map(condition => ({
      type: condition.type,
      means: meanings[condition.type] ?? '',
      tone: toneOf(condition),
      status: condition.status,
      reason: condition.reason,
      sentence: /\p{L}/u.test(condition.message) ? condition.message : condition.reason, // some tell only a sign
      since: since(condition.lastTransitionTime, now)
    }))
    .toSorted((a, b) => Number(b.type === 'Ready') - Number(a.type === 'Ready') || a.type.localeCompare(b.type))
}
