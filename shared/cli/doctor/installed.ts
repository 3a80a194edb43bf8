// What knative/ of this version installs.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { KubeObject } from '../../schema/kind.ts'

export interface Manifest extends KubeObject {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string }
}

const folder = join(import.meta.dirname, '..', '..', '..', 'knative')

export async function manifests(): Promise<Manifest[]> {
  const files = (await readdir(folder)).filter(name => name.endsWith('.yaml') && name !== 'kustomization.yaml')
  const texts = await Promise.all(files.sort().map(file => readFile(join(folder, file), 'utf8')))
  return texts.flatMap(text => parseAllDocuments(text).map(document => document.toJSON() as Manifest)).filter(Boolean)
}
