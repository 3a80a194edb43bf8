import type { Hypervisor } from '../schema/hypervisor.ts'
import type { Migration } from '../schema/migration.ts'
import { conditionOf, conditionsOf } from './conditions.ts'
import { haOf } from './ha.ts'
import { hostView, type HostObjects } from './host.ts'
import { movesOf } from './moves.ts'
import { networkDetail } from './network.ts'
import { plural, since } from './time.ts'
import type { Happening, HostDetail, HostView } from './types.ts'

export interface DetailObjects extends HostObjects {
  migrations: readonly Migration[]
  happenings: readonly Happening[]
}

function waitingOf({ hypervisor, eviction }: HostObjects): HostDetail['waiting'] {
  const { onboarding, offboarding, ha } = hypervisor.status ?? {}
  const told = [
    { who: 'onboarding', what: onboarding?.waitingFor, since: onboarding?.startedAt },
    { who: 'offboarding', what: offboarding?.waitingFor, since: offboarding?.startedAt },
    { who: 'high availability', what: ha?.waitingFor, since: ha?.since },
    { who: `eviction ${eviction?.metadata.name ?? ''}`, what: eviction?.status?.waitingFor, since: eviction?.status?.startedAt }
  ]
  return told.flatMap(({ who, what, since }) => (what ? [{ who, what, ...(since !== undefined && { since }) }] : []))
}

/** The state of the host as a colleague would tell it. */
function storyOf(objects: DetailObjects, host: HostView, waiting: HostDetail['waiting'], now: Date): string[] {
  const { hypervisor } = objects
  const ready = conditionOf(hypervisor, 'Ready')
  const { maintenance } = hypervisor.status ?? {}
  const who = maintenance?.requestedBy ? ` by ${maintenance.requestedBy}` : ''
  const lines = [
    ready
      ? `${host.name} is ${host.word} since ${since(ready.lastTransitionTime, now)}. ${ready.message}`
      : `Nothing is known of ${host.name} yet.`,
    maintenance?.mode &&
      maintenance.since &&
      `Maintenance (${maintenance.mode}) was asked for ${since(maintenance.since, now)} ago${who}${maintenance.reason ? `: ${maintenance.reason}` : ''}.`,
    host.drain && `Drain: ${host.drain.word}. ${host.drain.line}`,
    host.network.tone !== 'ok' && (host.network.why ?? `Network: ${host.network.line}.`),
    ...waiting.map(
      ({ who, what, since: began }) => `Waiting for ${what} (${who}${began === undefined ? '' : `, since ${since(began, now)}`}).`
    ),
    host.needsPerson && `Somebody has to look: ${host.needsPerson}`
  ]
  return lines.filter(line => typeof line === 'string' && line !== '') as string[]
}

function factsOf({ metadata, spec, status }: Hypervisor): HostDetail['facts'] {
  const { operatingSystem, nova, agent } = status ?? {}
  const facts: Array<[string, string | undefined]> = [
    ['Zone', metadata.labels?.['topology.kubernetes.io/zone']],
    ['Building block', metadata.labels?.['kubernetes.metal.cloud.sap/bb']],
    ['Address', status?.internalIp],
    ['VMs', plural(status?.numInstances ?? 0, 'VM')],
    ['Phase', status?.phase],
    ['Nova service', nova && [nova.status, nova.state, nova.disabledReason].filter(Boolean).join(', ')],
    ['Aggregates', status?.aggregates?.map(({ name }) => name).join(', ')],
    ['Traits set by Drover', status?.managedTraits?.join(', ')],
    ['Lifecycle', spec.lifecycleEnabled ? 'on' : 'off'],
    ['High availability', spec.highAvailability ? 'on' : 'off'],
    ['Operating system', operatingSystem?.prettyVersion],
    ['Hardware', operatingSystem?.hardwareModel],
    ['libvirt', status?.libVirtVersion],
    ['Agent', agent?.version],
    ['Last heartbeat', agent?.lastHeartbeat]
  ]
  return facts.filter((fact): fact is [string, string] => Boolean(fact[1]))
}

function timelineOf({ hypervisor, happenings }: DetailObjects): Happening[] {
  const { name } = hypervisor.metadata
  const own = (hypervisor.status?.history ?? []).map(({ id, time = '', kind = '', from, to = '', reason, actor }) => ({
    id,
    time,
    tone: 'rest' as const,
    about: name,
    text: `${kind}: ${from ? `${from} → ` : ''}${to}${reason ? ` (${reason})` : ''}${actor ? `, by ${actor}` : ''}`
  }))
  // What a function recorded it often told as an Event too, without its own name.
  const recorded = own.map(({ text }) => text)
  const further = happenings.filter(
    ({ about, text }) => about === name && !recorded.some(line => line.startsWith(text.replace(/ \(\d+ times\)$/, '')))
  )
  return [...own, ...further].toSorted((a, b) => b.time.localeCompare(a.time)).slice(0, 100)
}

export function hostDetail(objects: DetailObjects, now: Date): HostDetail {
  const { hypervisor, eviction, ovsNode, migrations } = objects
  const host = hostView(objects, now)
  const waiting = waitingOf(objects)
  const network = networkDetail(ovsNode)
  const ha = haOf(hypervisor, now)
  return {
    host,
    story: storyOf(objects, host, waiting, now),
    facts: factsOf(hypervisor),
    conditions: conditionsOf(hypervisor, now),
    waiting,
    drift: (hypervisor.status?.drift ?? []).map(
      ({ kind, name, expected, actual, action, since: began }) =>
        `${kind} ${name}: expected ${expected ?? 'nothing'}, found ${actual ?? 'nothing'}${action ? ` (${action})` : ''}${began ? `, for ${since(began, now)}` : ''}`
    ),
    moves: movesOf(host.name, eviction, migrations, now),
    instances: (hypervisor.status?.instances ?? []).map(({ id, name, active, state }) => ({
      id,
      name,
      word: state ?? (active ? 'running' : 'stopped')
    })),
    ...(network && { network }),
    ...(ha && { ha }),
    timeline: timelineOf(objects)
  }
}
