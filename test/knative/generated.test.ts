// What is written from knative/*.yaml is as it would be written now: `npm run docs`.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { generated } from '../../shared/install/generated.ts'
import { isFunction, knative, manifests, type Manifest } from '../../shared/install/manifests.ts'
import { matchWhole } from '../assert/match-whole.ts'

const all = await manifests()
const read = (file: string) => readFile(join(knative, file), 'utf8')

t.test('components and tables follow the manifests: `npm run docs`', async t => {
  for (const [file, text] of Object.entries(await generated(all, read))) t.equal(await read(file), text, file)
})

t.test('what a Trigger of ApiServerSource wants is watched by a source', async t => {
  const documents = async (file: string) =>
    parseAllDocuments(await read(`components/${file}`)).map(document => document.toJSON() as Manifest)
  const sources = [
    ...(await documents('apiserversource/source.yaml')),
    ...(await documents('apiserversource-kubevirt/source.yaml'))
  ]
  const watched = new Set(sources.flatMap(({ spec }) => spec.resources.map(({ kind }: Manifest) => kind)))
  for (const { metadata, spec } of await documents('apiserversource/triggers.yaml'))
    t.ok(watched.has(spec.filter.attributes.kind), metadata.name)
})

t.test(
  'every Service says how much it takes, how long, how many of it there may be, and that it may nothing on its node',
  async t => {
    const accounts = new Set<string>()
    for (const { metadata, spec } of all.filter(isFunction)) {
      const { annotations } = spec.template.metadata
      for (const scale of ['min-scale', 'max-scale'])
        t.match(annotations[`autoscaling.knative.dev/${scale}`], /^\d+$/, `${metadata.name}: ${scale}`)
      const { containerConcurrency, timeoutSeconds, serviceAccountName, containers } = spec.template.spec
      t.ok(containerConcurrency > 0, `${metadata.name}: concurrency`)
      t.ok(timeoutSeconds >= 30, `${metadata.name}: time-out`)
      t.equal(accounts.has(serviceAccountName), false, `${metadata.name}: an account of its own`)
      accounts.add(serviceAccountName)
      matchWhole(t, containers, [
        {
          readinessProbe: { httpGet: { path: '/readyz' } },
          livenessProbe: { httpGet: { path: '/healthz' } },
          resources: { requests: { cpu: /m$/, memory: /Mi$/ }, limits: { memory: /Mi$/ } }
        }
      ])
      matchWhole(t, containers[0].securityContext, {
        runAsNonRoot: true,
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
        seccompProfile: { type: 'RuntimeDefault' }
      })
    }
  }
)

t.test('a Service waits longer than the Triggers that call it', async t => {
  for (const { metadata, spec } of all.filter(({ kind }) => kind === 'Trigger')) {
    const called = all.find(one => isFunction(one) && one.metadata.name === spec.subscriber.ref.name)
    const seconds = Number(/^PT([\d.]+)S$/.exec(spec.delivery.timeout)?.[1])
    t.ok(called?.spec.template.spec.timeoutSeconds > seconds, metadata.name)
  }
})
