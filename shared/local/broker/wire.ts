// Manifests to live routes: who is behind each name, and which Triggers are ready.
import type { Hub, Route } from './hub.ts'
import { Lane } from './lane.ts'
import type { Destination } from './manifest-schema.ts'
import type { TriggerManifest, Wiring } from './manifests.ts'
import { toPolicy } from './policy.ts'
import type { Target } from './sender.ts'
import type { BrokerOptions, Sink } from './types.ts'

export interface TriggerInfo {
  namespace: string
  name: string
  file: string
  /** namespace/name */
  broker: string
  subscriber: string
  /** Why it gets no events; absent when it is ready. */
  reason?: string
}

export type Find = (destination: Destination, namespace: string) => Target | undefined

export function targetOf(wiring: Wiring, resolve: BrokerOptions['resolve'], hub: Hub, urlOf: (broker: string) => string): Find {
  return ({ ref, uri }, namespace) => {
    if (!ref) return toTarget(resolve({ uri: uri! }) ?? { url: uri! }, uri!, '/')
    const { kind, name } = ref
    const where = ref.namespace ?? namespace
    const key = `${where}/${name}`
    const path = uri ?? '/' // beside a ref it is relative to it
    if (kind === 'Broker' && wiring.brokers.has(key)) {
      return { to: ({ headers, body }) => hub.receive(key, headers, body), url: urlOf(key), path }
    }
    const sink = resolve({ kind, name, namespace: where })
    return sink && toTarget(sink, `http://${name}.${where}.svc.cluster.local`, path)
  }
}

function toTarget(sink: Sink, address: string, path: string): Target {
  const base = 'url' in sink ? sink.url : address
  const url = path === '/' ? base : new URL(path, base).href
  return { to: 'url' in sink ? new URL(url) : sink.deliver, url, path }
}

export function wire(wiring: Wiring, hub: Hub, find: Find, urlOf: (broker: string) => string, inFlight: number): TriggerInfo[] {
  const routes = new Map<string, Route[]>([...wiring.brokers.keys()].map(key => [key, []]))
  const infos = [...wiring.triggers.values()].map(trigger => {
    const route = toRoute(trigger, wiring, find, inFlight)
    const { namespace, name, file, broker } = trigger
    if (typeof route === 'string') return { namespace, name, file, broker, subscriber: '', reason: route }
    routes.get(broker)!.push(route)
    return { namespace, name, file, broker, subscriber: route.subscriber.url }
  })
  for (const [broker, of] of routes) hub.addBroker(broker, urlOf(broker), of)
  return infos
}

/** A route, or why there is none: as in Knative such a Trigger is accepted, but not ready. */
function toRoute(trigger: TriggerManifest, wiring: Wiring, find: Find, inFlight: number): Route | string {
  const { key, namespace, matches } = trigger
  const broker = wiring.brokers.get(trigger.broker)
  if (!broker) return `there is no Broker ${trigger.broker}`
  const subscriber = find(trigger.subscriber, namespace)
  if (!subscriber) return absent(trigger.subscriber, namespace, wiring)
  // The Trigger's delivery replaces the Broker's as a whole, but for the dead-letter sink (knative.md §3.2).
  const delivery = trigger.delivery ?? broker.delivery
  const sink = trigger.delivery?.deadLetterSink ?? broker.delivery.deadLetterSink
  const deadLetterSink = sink && find(sink, namespace)
  if (sink && !deadLetterSink) return `its dead-letter sink: ${absent(sink, namespace, wiring)}`
  const policy = toPolicy(delivery)
  return {
    key,
    namespace,
    matches,
    subscriber,
    policy,
    lane: new Lane(inFlight),
    held: 0,
    ...(deadLetterSink && { deadLetterSink })
  }
}

function absent({ ref }: Destination, namespace: string, { services }: Wiring): string {
  const key = `${ref!.namespace ?? namespace}/${ref!.name}`
  return services.has(key) ? `${ref!.kind} ${key} is not started here` : `there is no ${ref!.kind} ${key}`
}
