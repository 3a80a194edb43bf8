// knative/ is the truth about wiring: it names what the handlers take, and only what every broker class can do (design §6).
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { allKinds } from '../shared/events/index.ts'
import { anyEvent } from '../shared/events/kind.ts'
import type { DroverFunction } from '../shared/runtime/function.ts'

interface Manifest {
  file: string
  kind: string
  metadata: { name: string; namespace?: string }
  spec: Record<string, any>
}

const root = join(import.meta.dirname, '..')
// What is in components/ is for an installation to choose: it patches these, and wires nothing of its own.
const files = (await Array.fromAsync(glob('knative/*.yaml', { cwd: root }))).sort()
const manifests: Manifest[] = []
for (const file of files) {
  for (const document of parseAllDocuments(await readFile(join(root, file), 'utf8'))) {
    t.strictSame(document.errors, [], `${file} is YAML`)
    manifests.push({ file, ...document.toJSON() })
  }
}
const triggers = manifests.filter(({ kind }) => kind === 'Trigger')
const kustomization = manifests.find(({ file }) => file === 'knative/kustomization.yaml') as unknown as { resources: string[] }

t.test('every file is installed', async t => {
  t.strictSame(
    files.filter(file => file !== 'knative/kustomization.yaml').map(file => file.slice('knative/'.length)),
    kustomization.resources
  )
})

t.test('the Triggers and the handlers name the same types', async t => {
  const handlers = await Array.fromAsync(glob('functions/*/handler.ts', { cwd: root }))
  t.not(handlers.length, 0)
  for (const file of handlers) {
    const { default: fn } = (await import(join(root, file))) as { default: DroverFunction }
    const taken = fn.reactions
      .map(({ kind }) => kind.type)
      .filter(type => type !== anyEvent.type)
      .sort()
    const wired = triggers
      .filter(({ spec }) => spec['subscriber'].ref.name === fn.name)
      .map(({ spec }) => String(spec['filter'].attributes.type))
    t.strictSame(wired.sort(), taken, fn.name)
    t.ok(
      manifests.some(({ kind, metadata }) => kind === 'Service' && metadata.name === fn.name),
      `${fn.name} has a Service`
    )
    for (const { kind } of fn.reactions)
      t.ok(kind.reactedBy.includes(fn.name), `the table says that ${fn.name} reacts to ${kind.type}`)
  }
})

const types = new Set(allKinds.map(({ type }) => type))
const seconds = (duration: string) => Number(/^PT([\d.]+)S$/.exec(duration)?.[1])

for (const { file, metadata, spec } of triggers) {
  t.test(`${file}: ${metadata.name} uses only what every broker class can do`, async t => {
    t.strictSame(
      Object.keys(spec).sort(),
      ['broker', 'delivery', 'filter', 'subscriber'],
      'no `filters`: RabbitMQBroker ignores them'
    )
    t.strictSame(Object.keys(spec['filter']), ['attributes'])
    const { type, ...others } = spec['filter'].attributes
    t.ok(types.has(type), `${type} is in the table of events`)
    t.ok(
      Object.values(others).every(value => value !== ''),
      'no "any value": classes differ'
    )
    const { retry, backoffPolicy, backoffDelay, timeout, deadLetterSink, ...rest } = spec['delivery']
    t.ok(retry >= 1 && retry <= 5, 'few retries: the in-memory broker makes its sender wait for them')
    t.equal(backoffPolicy, 'exponential')
    t.ok(seconds(backoffDelay) >= 0.2, 'RabbitMQBroker dies of less than 0.1 s')
    t.ok(seconds(timeout) > 0 && seconds(timeout) <= 60)
    t.ok(deadLetterSink?.ref?.name, "a Trigger's delivery replaces the Broker's whole")
    t.strictSame(rest, {}, 'nothing that a class does not know')
  })
}

t.test('no Service asks for what Serving refuses', async t => {
  for (const { file, kind, metadata, spec } of manifests) {
    if (kind !== 'Service' || spec?.['template'] === undefined) continue
    const refs = spec['template'].spec.containers
      .flatMap(({ env = [] }: any) => env)
      .filter(({ valueFrom }: any) => valueFrom?.fieldRef)
    t.strictSame(refs, [], `${file}: ${metadata.name} has no fieldRef`)
  }
})

t.test('no Trigger is meant for a Service that does not exist', async t => {
  for (const { metadata, spec } of triggers) {
    for (const { name, kind, namespace } of [spec['subscriber'].ref, spec['delivery'].deadLetterSink.ref]) {
      t.ok(
        manifests.some(other => other.kind === kind && other.metadata.name === name && other.metadata.namespace === namespace),
        `${metadata.name} → ${name}`
      )
    }
  }
})
