// The only part with effects. What was decided is already written down; what is asked of Nova bears the trace of the event (HV-67).
import { OpenStackError } from 'openstack-sdk-lite'
import type { Kube } from '../../shared/kube/connect.ts'
import { KubeError } from '../../shared/kube/errors.ts'
import type { Cloud } from '../../shared/openstack/connect.ts'
import { disabledBy } from '../../shared/openstack/compute-service.ts'
import type { Action } from '../../shared/openstack/audit.ts'
import { failureOf } from '../../shared/openstack/failure.ts'
import { novaHost } from '../../shared/openstack/host.ts'
import type { Listings } from '../../shared/openstack/listings.ts'
import { requestIdOf } from '../../shared/openstack/request-id.ts'
import { Eviction } from '../../shared/schema/eviction.ts'
import type { Platform } from '../../shared/runtime/function.ts'
import { sendMs } from './requests.ts'
import { manager } from './scheduling.ts'
import type { Call, Seen } from './seen.ts'

export interface Hands extends Pick<Platform, 'log' | 'clock'> {
  kube: Kube
  cloud: Cloud
  listings: Listings
}

export interface Outcome {
  call: Call
  /** undefined: done; else why not */
  problem?: string
  /** Nova said no: it was surely not done. */
  refused: boolean
  /** It surely never reached Nova. */
  unsent?: boolean
  /** for the record of the host */
  action?: Action
}

const atOnce = 8

export async function act(seen: Seen, calls: readonly Call[], hands: Hands): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  const waiting = calls.values()
  const worker = async (): Promise<void> => {
    for (const call of waiting) outcomes.push(await one(seen, call, hands))
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, calls.length) }, worker))
  return outcomes
}

async function one(seen: Seen, call: Call, hands: Hands): Promise<Outcome> {
  const host = seen.hypervisor.metadata.name
  // by then another process may take it for lost, and ask for it itself
  if ('server' in call && hands.clock().getTime() - call.atMs > sendMs)
    return { call, problem: 'it was too late to send it', refused: false, unsent: true }
  try {
    const other = 'server' in call ? await askedSince(seen, call.server, hands) : undefined
    if (other !== undefined) return { call, problem: `somebody asked Nova for ${other} meanwhile`, refused: false, unsent: true }
    const action = await run(seen, call, hands)
    hands.log.info({ host, ...call }, 'asked for')
    return { call, refused: false, ...(action && { action }) }
  } catch (err) {
    if (!(err instanceof OpenStackError) && !(err instanceof KubeError)) throw err
    const problem = err instanceof OpenStackError ? failureOf(err).words : err.message
    hands.log.warn({ host, ...call, err }, 'was not done')
    const unsent = err.retryable && err instanceof OpenStackError && !err.maybeDone
    return { call, problem, refused: !err.retryable, unsent }
  }
}

/** T-20: between the look and the order lie a write and a queue. What Nova was asked for meanwhile, by a user or by another process, comes first. */
async function askedSince({ evidence }: Seen, server: string, { cloud }: Hands): Promise<string | undefined> {
  const known = new Set(evidence.get(server)?.actions.map(({ requestId }) => requestId))
  const actions = await cloud.instanceActions.list(server)
  return actions.find(({ requestId, userId }) => userId !== null && !known.has(requestId))?.action
}

function run(seen: Seen, call: Call, hands: Hands): Promise<Action | undefined> {
  if (call.do === 'disable') return disable(seen, call.reason, hands)
  if (call.do === 'enable') return enable(seen, hands)
  if (call.do === 'drain') return drain(seen, call, hands)
  if (call.do === 'stop-drain') return stopDrain(call, hands)
  return order(call, hands)
}

async function order(
  { do: what, server, decisionId, trace }: Extract<Call, { server: string }>,
  { cloud }: Hands
): Promise<Action> {
  const { servers } = { ...cloud, ...cloud.with(requestIdOf(trace)) }
  if (what === 'restart') await servers.reboot(server, 'HARD')
  else if (what === 'move') await servers.migrate(server)
  else if (what === 'start') await servers.start(server)
  else await servers.confirmResize(server)
  return { kind: `server ${server}`, to: what, reason: `decision ${decisionId}` }
}

/** Read again right before: what somebody else disabled meanwhile bears their words, and keeps them (HV-32). */
async function serviceNow({ hypervisor, service }: Seen, { cloud, listings }: Hands): Promise<Seen['service']> {
  listings.forget('services')
  const host = novaHost(hypervisor) ?? service?.host ?? ''
  const all = await cloud.services.list({ host, binary: 'nova-compute' })
  return all.find(({ id }) => id === service?.id)
}

async function disable(seen: Seen, reason: string, hands: Hands): Promise<Action | undefined> {
  const service = await serviceNow(seen, hands)
  if (service?.status !== 'enabled') return undefined
  await hands.cloud.services.update(service.id, { status: 'disabled', disabledReason: reason })
  return { kind: 'service nova-compute', from: 'enabled', to: 'disabled', reason }
}

async function enable(seen: Seen, hands: Hands): Promise<Action | undefined> {
  const service = await serviceNow(seen, hands)
  if (service?.status !== 'disabled' || disabledBy(service.disabledReason) !== manager) return undefined
  await hands.cloud.services.update(service.id, { status: 'enabled' })
  return { kind: 'service nova-compute', from: 'disabled', to: 'enabled', reason: 'the signals are over' }
}

/** Of another name than the host's, which belongs to its maintenance. */
async function drain(
  { hypervisor: { metadata, spec } }: Seen,
  { name, reason }: Extract<Call, { do: 'drain' }>,
  { kube }: Hands
): Promise<Action> {
  const { uid = '', labels = {} } = metadata
  const owner = { apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor', name: metadata.name, uid, blockOwnerDeletion: true }
  await kube.apply(Eviction, {
    metadata: { name, ...(Object.keys(labels).length > 0 && { labels }), ownerReferences: [owner] },
    spec: { hypervisor: metadata.name, reason, ...spec.eviction }
  })
  return { kind: `eviction ${name}`, from: 'absent', to: 'asked for', reason }
}

async function stopDrain({ name, over }: Extract<Call, { do: 'stop-drain' }>, { kube }: Hands): Promise<Action> {
  if (over) await kube.delete(Eviction, { name })
  else await kube.patch(Eviction, { name }, { spec: { cancel: 'Finish' } })
  return { kind: `eviction ${name}`, to: over ? 'deleted' : 'cancelled', reason: 'the signals are over' }
}
