// Files to wiring. What Knative's API would refuse is refused here, with the file and the object's name.
import { Compile } from 'typebox/compile'
import { BadFilter, compileTriggerFilter, type Matches } from './filter.ts'
import * as schema from './manifest-schema.ts'
import { pingProblems } from './ping-source.ts'
import { DEFAULT_DELIVERY, deliveryProblems } from './policy.ts'
import type { Manifest } from './types.ts'

export class ManifestError extends Error {
  override name = 'ManifestError'
}

export interface Named {
  file: string
  namespace: string
  name: string
  /** namespace/name */
  key: string
}

export interface BrokerManifest extends Named {
  delivery: schema.DeliverySpec
}
export interface TriggerManifest extends Named {
  broker: string
  matches: Matches
  subscriber: schema.Destination
  delivery?: schema.DeliverySpec
}
export interface PingManifest extends Named {
  spec: schema.PingSourceSpec
}
export interface BindingManifest extends Named {
  spec: schema.SinkBindingSpec
}

export interface Wiring {
  brokers: Map<string, BrokerManifest>
  triggers: Map<string, TriggerManifest>
  pings: Map<string, PingManifest>
  bindings: Map<string, BindingManifest>
  /** Knative Services and plain ones that the files declare. */
  services: Set<string>
}

const checks = {
  Broker: Compile(schema.Broker),
  Trigger: Compile(schema.Trigger),
  PingSource: Compile(schema.PingSource),
  SinkBinding: Compile(schema.SinkBinding)
}
type Check = (typeof checks)[keyof typeof checks]

/** Kinds of these groups that mean nothing to the broker; any other one is a typo. */
const IGNORED = new Set([
  'EventType',
  'EventPolicy',
  'RequestReply',
  'EventTransform',
  'ApiServerSource',
  'ContainerSource',
  'IntegrationSource'
])
const GROUPS = /^(eventing|sources)\.knative\.dev\//

export async function readManifests(manifests: Manifest[], defaultNamespace: string): Promise<Wiring> {
  const wiring: Wiring = { brokers: new Map(), triggers: new Map(), pings: new Map(), bindings: new Map(), services: new Set() }
  for (const manifest of manifests) await readManifest(manifest, defaultNamespace, wiring)
  return wiring
}

interface Header {
  apiVersion?: string
  kind?: string
  metadata?: { name?: string; namespace?: string } | null
}

async function readManifest({ file, doc }: Manifest, defaultNamespace: string, wiring: Wiring): Promise<void> {
  if (doc === null || doc === undefined) return // an empty document between two `---`
  const { apiVersion, kind, metadata } = doc as Header
  if (!apiVersion || !kind) throw new ManifestError(`${file}: a document has no apiVersion or kind`)
  const { name = '', namespace = defaultNamespace } = metadata ?? {}
  const named: Named = { file, namespace, name, key: `${namespace}/${name}` }
  if (kind === 'Service') wiring.services.add(named.key)
  if (!GROUPS.test(apiVersion) || IGNORED.has(kind)) return

  if (kind === 'Broker') add(wiring.brokers, kind, readBroker(named, checked(checks.Broker, doc, kind, named)))
  else if (kind === 'Trigger') add(wiring.triggers, kind, await readTrigger(named, checked(checks.Trigger, doc, kind, named)))
  else if (kind === 'PingSource') add(wiring.pings, kind, readPing(named, checked(checks.PingSource, doc, kind, named)))
  else if (kind === 'SinkBinding')
    add(wiring.bindings, kind, { ...named, spec: checked(checks.SinkBinding, doc, kind, named).spec })
  else throw new ManifestError(`${file}: there is no kind ${kind} in ${apiVersion}`)
}

function add<T extends Named>(all: Map<string, T>, kind: string, one: T): void {
  const other = all.get(one.key)
  if (other) throw new ManifestError(`${one.file}: ${kind} ${one.key} is in ${other.file} already`)
  all.set(one.key, one)
}

function checked<C extends Check>(check: C, doc: unknown, kind: string, named: Named): ReturnType<C['Parse']> {
  if (check.Check(doc)) return doc as ReturnType<C['Parse']>
  // An unknown field is also told as the schema `false` at its place; the sentence that names it is the better one.
  const problems = check.Errors(doc).filter(({ keyword }) => keyword !== 'boolean')
  throw refuse(
    kind,
    named,
    problems.map(({ instancePath, message, params }) => problemText(instancePath, message, params)).join('; ')
  )
}

function problemText(path: string, message: string, params: object): string {
  const where = path.slice(1).replaceAll('/', '.') || 'the document'
  if ('additionalProperties' in params) return `${where} has the unknown field ${String(params.additionalProperties)}`
  if ('requiredProperties' in params) return `${where} misses ${String(params.requiredProperties)}`
  if ('allowedValues' in params) return `${where} must be one of ${String(params.allowedValues)}`
  return `${where} ${message}`
}

const refuse = (kind: string, { file, key }: Named, problem: string): ManifestError =>
  new ManifestError(`${file}: ${kind} ${key}: ${problem}`)

type Parsed<K extends keyof typeof checks> = ReturnType<(typeof checks)[K]['Parse']>

function readBroker(named: Named, doc: Parsed<'Broker'>): BrokerManifest {
  const delivery = doc.spec?.delivery ?? DEFAULT_DELIVERY
  checkDelivery('Broker', named, delivery)
  return { ...named, delivery }
}

async function readTrigger(named: Named, { spec }: Parsed<'Trigger'>): Promise<TriggerManifest> {
  const { broker, subscriber, delivery } = spec
  checkDestination('Trigger', named, subscriber, 'subscriber')
  if (delivery) checkDelivery('Trigger', named, delivery)
  const matches = await readFilter(named, spec)
  return { ...named, broker: `${named.namespace}/${broker}`, matches, subscriber, ...(delivery && { delivery }) }
}

function readPing(named: Named, { spec }: Parsed<'PingSource'>): PingManifest {
  checkDestination('PingSource', named, spec.sink, 'sink')
  const problems = pingProblems(spec)
  if (problems.length > 0) throw refuse('PingSource', named, problems.join('; '))
  return { ...named, spec }
}

async function readFilter(named: Named, spec: schema.TriggerSpec): Promise<Matches> {
  try {
    return await compileTriggerFilter(spec)
  } catch (err) {
    if (err instanceof BadFilter) throw refuse('Trigger', named, err.message)
    throw err
  }
}

function checkDestination(kind: string, named: Named, { ref, uri }: schema.Destination, field: string): void {
  if (!ref && !/^https?:\/\/./.test(uri ?? '')) throw refuse(kind, named, `expected a ref or an absolute URI: ${field}`)
}

function checkDelivery(kind: string, named: Named, delivery: schema.DeliverySpec): void {
  if (delivery.deadLetterSink) checkDestination(kind, named, delivery.deadLetterSink, 'delivery.deadLetterSink')
  const problems = deliveryProblems(delivery)
  if (problems.length > 0) throw refuse(kind, named, problems.join('; '))
}
