// What a manifest sets for Node, its memory, its processor and how much it may do at once, so that figures are those of what ships.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'

interface Container {
  env?: { name: string; value: string }[]
  resources?: { limits?: { cpu?: string; memory?: string } }
}
interface Workload {
  kind: string
  spec: { template?: { spec: { containerConcurrency?: number; containers: [Container] } } }
}

export interface Shipped {
  env: Record<string, string>
  containerConcurrency: number
  /** Of the container; what is not set is not limited. */
  limits: { cpu?: string; memory?: string }
}

export async function shipped(manifest: string): Promise<Shipped> {
  const text = await readFile(join(import.meta.dirname, '../../../knative', manifest), 'utf8')
  const workload = parseAllDocuments(text)
    .map(document => document.toJS() as Workload)
    .find(({ kind, spec }) => ['Service', 'DaemonSet'].includes(kind) && spec.template)
  if (!workload?.spec.template) throw new Error(`${manifest} has no Service and no DaemonSet`)
  const { containers, containerConcurrency = 0 } = workload.spec.template.spec
  const [{ env = [], resources }] = containers
  const ours = env.filter(({ name }) => /^(?:NODE_OPTIONS|MALLOC_)/.test(name))
  return {
    env: Object.fromEntries(ours.map(({ name, value }) => [name, value])),
    containerConcurrency,
    limits: resources?.limits ?? {}
  }
}
