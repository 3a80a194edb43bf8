import type { Eviction } from '../schema/eviction.ts'
import type { Hypervisor } from '../schema/hypervisor.ts'
import type { OVSNode } from '../schema/ovs-node.ts'
import { parseQuantity, toNumber } from '../schema/quantity.ts'
import { conditionOf } from './conditions.ts'
import { drainNeedsPerson, drainOf, isOver, timeLeft } from './drain.ts'
import { troubleOf, vmNeedsPerson } from './ha.ts'
import { networkOf } from './network.ts'
import { plural, since } from './time.ts'
import type { HostView, Tone } from './types.ts'

export interface HostObjects {
  hypervisor: Hypervisor
  eviction?: Eviction | undefined
  ovsNode?: OVSNode | undefined
  /** VMs on their way to it, and how many of these libvirt has here already although they still run where they come from. */
  arriving?: number
  countedElsewhere?: number
}

type State = Pick<HostView, 'tone' | 'word' | 'line'>

const words: Record<string, [Tone, string]> = {
  Ready: ['ok', 'Ready'],
  Offboarded: ['rest', 'Offboarded'],
  Terminating: ['busy', 'Terminating'],
  Onboarding: ['busy', 'Onboarding'],
  Evicting: ['busy', 'Draining'],
  Evicted: ['rest', 'Drained'],
  Maintenance: ['rest', 'Maintenance'],
  AgentLost: ['bad', 'Agent silent'],
  LibVirtDown: ['bad', 'libvirt down'],
  NovaServiceDown: ['bad', 'Not scheduled'],
  NodeNotReady: ['bad', 'Node not ready'],
  NetworkDown: ['bad', 'Network down']
}

function stateOf(
  { hypervisor, eviction, arriving = 0 }: HostObjects,
  vms: number,
  network: HostView['network'],
  now: Date
): State {
  const ready = conditionOf(hypervisor, 'Ready')
  const onboarding = conditionOf(hypervisor, 'Onboarding')
  if (!ready) return { tone: 'rest', word: 'Discovered', line: 'nothing is known yet' }
  if (ready.reason === 'Onboarding' && !hypervisor.spec.lifecycleEnabled)
    return { tone: 'rest', word: 'Not managed', line: plural(vms, 'VM') }
  if (onboarding?.status === 'True' && (onboarding.reason === 'Failed' || onboarding.reason === 'Aborted'))
    return { tone: 'bad', word: 'Onboarding failed', line: onboarding.message }
  const [tone, word] = words[ready.reason] ?? ['warn', ready.reason]
  const evicting = conditionOf(hypervisor, 'Evicting')
  if (evicting?.status === 'True' && evicting.reason !== 'Running')
    return { tone: 'bad', word: 'Drain blocked', line: evicting.message }
  if (word === 'Draining' && eviction && !isOver(eviction)) {
    const { total, done, running, eta, word: progress } = drainOf(eviction, now)
    const left = timeLeft(eta, now)
    const awaited = eviction.status?.waitingFor
    const goesOn = running > 0 ? `${running} moving` : awaited && done < total && `waits for ${awaited}`
    const parts = [`${total - done} left of ${total}`, goesOn, left]
    return { tone, word, line: total === 0 ? progress : parts.filter(Boolean).join(' · ') }
  }
  if (ready.status !== 'True') return { tone, word, line: tone === 'rest' ? restLine(hypervisor, vms) : ready.message }
  const held = [plural(vms, 'VM'), arriving > 0 && `receiving ${arriving}`, troubleOf(hypervisor)].filter(Boolean).join(' · ')
  if (network.tone !== 'ok') return { tone: network.tone, word: 'Degraded', line: `${held} · ${network.line}` }
  return { tone, word, line: held }
}

const restLine = ({ spec }: Hypervisor, vms: number): string =>
  [vms === 0 ? 'empty' : plural(vms, 'VM'), spec.maintenanceReason].filter(Boolean).join(' · ')

const amount = (quantity: string | number | undefined): number => toNumber(parseQuantity(quantity ?? 0) ?? 0n)

/** How much of the memory is given to VMs; a host that tells no capacity shows nothing. */
function fullness({ status }: Hypervisor): number {
  const capacity = amount(status?.capacity?.['memory'])
  const used = amount(status?.allocation?.['memory'])
  return capacity > 0 ? Math.min(100, Math.round((100 * used) / capacity)) : 0
}

function needsPerson({ hypervisor, eviction }: HostObjects, { tone, word, line }: State, now: Date): string | undefined {
  const stuck = eviction && drainNeedsPerson(eviction)
  if (stuck) return stuck
  if (tone !== 'bad') return vmNeedsPerson(hypervisor)
  const ready = conditionOf(hypervisor, 'Ready')
  return `${word}${ready?.lastTransitionTime ? ` since ${since(ready.lastTransitionTime, now)}` : ''}: ${line}`
}

export function hostView(objects: HostObjects, now: Date): HostView {
  const { hypervisor, eviction, ovsNode } = objects
  const { metadata, status } = hypervisor
  const labels: Record<string, string> = metadata.labels ?? {}
  const vms = Math.max(0, (status?.numInstances ?? 0) - (objects.countedElsewhere ?? 0))
  const network = networkOf(ovsNode)
  const state = stateOf(objects, vms, network, now)
  const person = needsPerson(objects, state, now)
  const drain = eviction && (!isOver(eviction) || person !== undefined) ? drainOf(eviction, now) : undefined
  return {
    name: metadata.name,
    zone: labels['topology.kubernetes.io/zone'] ?? 'no zone',
    block: labels['kubernetes.metal.cloud.sap/bb'] ?? '',
    ...state,
    line: network.tone === 'ok' || state.line.includes(network.line) ? state.line : `${state.line} · ${network.line}`,
    percent: drain && state.word === 'Draining' ? drain.percent : fullness(hypervisor),
    vms,
    network,
    ...(person !== undefined && { needsPerson: person }),
    ...(drain && { drain }),
    find: [metadata.name, status?.internalIp, ...Object.values(labels), ...(status?.instances ?? []).map(({ name }) => name)]
      .filter(Boolean)
      .join(' ')
      .toLowerCase()
  }
}
