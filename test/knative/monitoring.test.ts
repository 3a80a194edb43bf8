// Seeds 002, 003: every pod of Drover is scraped, and what it tells fits a federation of clusters.
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { isFunction, knative, manifests, type Manifest } from '../../shared/install/manifests.ts'

const root = join(knative, '..')
const read = (file: string) => readFile(join(knative, file), 'utf8')
const files = ['pods', 'ovs'].map(name => read(`components/monitoring/${name}.yaml`))
const monitors = (await Promise.all(files))
  .flatMap(text => parseAllDocuments(text).map(document => document.toJSON() as Manifest))
  .filter(({ kind }) => kind === 'PodMonitor')

/** Knative names a function's port itself. */
const portsOf = (one: Manifest): string[] =>
  isFunction(one)
    ? ['user-port']
    : one.spec.template.spec.containers.flatMap(({ ports = [] }: any) => ports.map(({ name }: any) => name))

t.test('each pod is scraped by one monitor, at one port', async t => {
  const pods = (await manifests()).filter(one => isFunction(one) || ['Deployment', 'DaemonSet'].includes(one.kind))
  t.ok(pods.length > 15)
  for (const pod of pods) {
    const { name, namespace = '' } = pod.metadata
    const labels = pod.spec.template.metadata.labels ?? {}
    const scraped = monitors.flatMap(({ metadata, spec }) => {
      const within: string[] = spec.namespaceSelector?.matchNames ?? [metadata.namespace]
      const chosen = Object.entries(spec.selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value)
      return within.includes(namespace) && chosen ? spec.podMetricsEndpoints : []
    })
    const ports = portsOf(pod)
    t.equal(scraped.filter(({ port }: { port: string }) => ports.includes(port)).length, 1, `${name} in ${namespace}`)
  }
})

t.test('what is federated: all metrics of ours are asked for, and none has the label that tells clusters apart', async t => {
  const wanted = /`\{__name__=~"([^"]+)"\}`/.exec(await read('README.md'))?.[1]
  const ours = new RegExp(`^(?:${wanted})$`)
  let metrics = 0
  for await (const file of glob('{shared,agents,functions}/**/*.ts', { cwd: root, exclude: ['**/node_modules/**'] })) {
    const text = await readFile(join(root, file), 'utf8')
    if (!text.includes("from 'prom-client'")) continue
    for (const [, name] of text.matchAll(/\bname: '([a-z]+_[a-z_]+)'/g)) {
      metrics += 1
      t.match(name, ours, `${file}: ${name}`)
    }
    for (const [, labels] of text.matchAll(/labelNames: \[([^\]]*)\]/g)) t.notMatch(labels, /'cluster'/, file)
  }
  t.ok(metrics > 15, `${metrics} metrics`)
})
