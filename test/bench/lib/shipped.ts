// What a manifest sets for Node, its memory and how much it may do at once, so that figures are those of what ships.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'

interface Workload {
  kind: string
  spec: { template?: { spec: { containerConcurrency?: number; containers: [{ env: { name: string; value: string }[] }] } } }
}

export interface Shipped {
  env: Record<string, string>
  containerConcurrency: number
}

export async function shipped(manifest: string): Promise<Shipped> {
  const text = await readFile(join(import.meta.dirname, '../../../knative', manifest), 'utf8')
  const workload = parseAllDocuments(text)
    .map(document => document.toJS() as Workload)
    .find(({ kind, spec }) => ['Service', 'DaemonSet'].includes(kind) && spec.template)
  if (!workload?.spec.template) throw new Error(`${manifest} has no Service and no DaemonSet`)
  const { containers, containerConcurrency = 0 } = workload.spec.template.spec
  const env = containers[0].env.filter(({ name }) => /^(?:NODE_OPTIONS|MALLOC_)/.test(name))
  return { env: Object.fromEntries(env.map(({ name, value }) => [name, value])), containerConcurrency }
}
