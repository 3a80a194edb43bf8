import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from 'typebox'
import type { EventKind } from '../../shared/events/kind.ts'
import { allKinds } from '../../shared/events/index.ts'
import { connect, holdLease, type Kube } from '../../shared/kube/index.ts'
import type { Agent, AgentPlatform } from '../../shared/runtime/agent.ts'
import { EmitError, emitter, type Emit } from '../../shared/runtime/emitter.ts'
import { delayOf, type RetryPolicy } from '../../shared/runtime/retry.ts'
import { machines, nodes, pods, type Watched } from './kinds.ts'
import { clusterMetrics, type ClusterMetrics } from './metrics.ts'
import { Outbox, type Outcome } from './outbox.ts'
import { keyOf, merge, toEvent, type Message } from './to-event.ts'
import { watch } from './watch.ts'

const backoff: RetryPolicy = { attempts: Number.POSITIVE_INFINITY, minDelayMs: 200, maxDelayMs: 5000 }
const absentKindMs = 30_000

const config = Type.Object({
  kubeconfig: Type.Optional(Type.String({ description: 'path of a kubeconfig; left out inside a cluster' })),
  kSink: Type.String({ pattern: '^https?://', description: 'address of the broker' }),
  agentNamespaces: Type.Array(Type.String(), { default: ['monsoon3'], description: 'where the agents of hypervisors run' }),
  watchMachines: Type.Boolean({ default: true, description: 'Machines and their KubeVirt objects too' }),
  leaseNamespace: Type.Optional(Type.String({ description: 'where two replicas agree who speaks; left out: no second replica' })),
  podName: Type.String({ default: hostname(), description: 'name of this replica in the lease' })
})

const kindOf = new Map<string, EventKind>(allKinds.map(kind => [kind.type, kind]))

export interface Wiring extends Pick<AgentPlatform, 'log' | 'signal'> {
  kube: Kube
  metrics: ClusterMetrics
  emit: Emit
  agentNamespaces: readonly string[]
  watchMachines: boolean
}

function sender({ emit, log, metrics, signal }: Wiring): (message: Message) => Promise<Outcome> {
  return async ({ type, data, changed, ...attributes }) => {
    const kind = kindOf.get(type) as EventKind
    try {
      await emit({ kind, data, ...attributes, ...(changed.length > 0 && { extensions: { changed: changed.join(',') } }) })
      metrics.told.inc({ type })
      return 'sent'
    } catch (err) {
      // Even a refusal is tried again: a broker that is not yet there answers 404, and nothing may be lost
      const away = err instanceof EmitError && (err.code === 'unreachable' || err.code === 'timeout')
      if (signal.aborted) return 'away' // we hung up ourselves: who speaks next tells everything anew
      log.warn({ err, id: attributes.id, type }, away ? 'the broker is away' : 'the broker did not take an event')
      return away ? 'away' : 'later'
    }
  }
}

const quietly = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(err => {
    if (!signal.aborted) throw err
  })

/** Tells the broker what changes in the cluster, until the signal aborts. */
export async function tellChanges(wiring: Wiring): Promise<void> {
  const { kube, metrics, signal, agentNamespaces, watchMachines } = wiring
  const outbox = new Outbox({
    send: sender(wiring),
    merge,
    pause: attempt => quietly(delayOf(backoff, attempt, Math.random), signal)
  })
  metrics.countWaiting(() => outbox.size)
  const pause = () => quietly(absentKindMs, signal)
  const follow = async (watched: Watched, namespace?: string) => {
    for await (const fact of watch(kube, watched, { signal, pause, ...(namespace !== undefined && { namespace }) })) {
      outbox.put(keyOf(fact), toEvent(fact))
    }
  }
  signal.addEventListener('abort', () => outbox.close(), { once: true })
  const wanted = watchMachines ? [...nodes, ...machines] : nodes
  await Promise.all([...wanted.map(kind => follow(kind)), ...agentNamespaces.map(namespace => follow(pods, namespace))])
}

export const clusterAgent: Agent<typeof config> = {
  name: 'cluster-agent',
  config,
  async run(
    { kubeconfig, kSink, leaseNamespace, podName, agentNamespaces, watchMachines },
    { log, metrics, signal, clock, ready }
  ) {
    const kube = await connect({ manager: 'drover-cluster-agent', log, metrics, ...(kubeconfig !== undefined && { kubeconfig }) })
    const emit = emitter({ sink: kSink, source: '/cluster-agent', retry: { ...backoff, attempts: 1 }, log, metrics, signal })
    const wiring = { kube, emit, log, metrics: clusterMetrics(metrics), agentNamespaces, watchMachines }
    ready()
    if (leaseNamespace === undefined) return tellChanges({ ...wiring, signal })
    const lease = holdLease(kube, {
      name: 'drover-cluster-agent',
      namespace: leaseNamespace,
      identity: podName,
      now: clock,
      signal,
      log
    })
    let turn = new AbortController()
    let speaking = Promise.resolve()
    for await (const held of lease.changes()) {
      log.info({ held }, held ? 'this replica speaks' : 'another replica speaks')
      turn.abort()
      await speaking
      turn = new AbortController()
      if (held) speaking = tellChanges({ ...wiring, signal: AbortSignal.any([signal, turn.signal]) })
    }
    await Promise.all([speaking, lease.ended])
  }
}
