// knative/ as data: what is generated from it, components and tables, cannot drift from it.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'

export interface Rule {
  apiGroups: string[]
  resources: string[]
  resourceNames?: string[]
  verbs: string[]
}

export interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string }
  spec?: any
  rules?: Rule[]
  roleRef?: { kind: string; name: string }
  subjects?: Array<{ name: string; namespace: string }>
}

export const knative = join(import.meta.dirname, '../../knative')

export async function manifests(folder = knative): Promise<Manifest[]> {
  const { resources } = parse(await readFile(join(folder, 'kustomization.yaml'), 'utf8')) as { resources: string[] }
  const texts = await Promise.all(resources.map(file => readFile(join(folder, file), 'utf8')))
  return texts.flatMap(text => parseAllDocuments(text).map(document => document.toJSON() as Manifest))
}

export const isFunction = ({ apiVersion, kind }: Manifest): boolean => kind === 'Service' && apiVersion.startsWith('serving.')

const named = ({ apiVersion, kind, metadata: { name, namespace } }: Manifest) =>
  ({ apiVersion, kind, metadata: { name, ...(namespace !== undefined && { namespace }) } }) as const

/** A kustomize patch that takes the objects away. */
export const without = (gone: readonly Manifest[]): object[] => gone.map(one => ({ ...named(one), $patch: 'delete' }))

export const header = '# Written by `npm run docs` from knative/*.yaml.\n'
