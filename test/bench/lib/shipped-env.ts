// What a manifest sets for Node and its memory, so that figures are those of what ships.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'

export async function shippedEnv(manifest: string, kind: 'DaemonSet' | 'Service'): Promise<Record<string, string>> {
  const text = await readFile(join(import.meta.dirname, '../../../knative', manifest), 'utf8')
  const workload = parseAllDocuments(text)
    .map(document => document.toJS() as { kind: string; spec: any })
    .find(one => one.kind === kind && one.spec.template)
  const env = workload?.spec.template.spec.containers[0].env as Array<{ name: string; value: string }>
  return Object.fromEntries(env.flatMap(({ name, value }) => (/^(?:NODE_OPTIONS|MALLOC_)/.test(name) ? [[name, value]] : [])))
}
