// An overlay of knative/, as README tells a user to write one.
import { mkdtemp, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { apiserverTriggers } from '../../shared/install/apiserver-triggers.ts'
import { manifests, without, type Manifest } from '../../shared/install/manifests.ts'
import type { Cluster } from '../servers/knative.ts'

const knative = join(import.meta.dirname, '../../knative')

/** Of the version that comes after the installed one. */
export const nextTag = '0.1.1'

export interface Wanted {
  components?: readonly string[]
  /** Of the image. */
  tag?: string
  /** Triggers that are left out. */
  leftOut?: (trigger: Manifest) => boolean
}

/** Those of ApiServerSource's component too. */
async function allTriggers(components: readonly string[]): Promise<Manifest[]> {
  const all = await manifests()
  const more = components.includes('apiserversource') ? (apiserverTriggers(all) as Manifest[]) : []
  return [...all.filter(({ kind }) => kind === 'Trigger'), ...more]
}

/** A Trigger of another function. */
export const notOf =
  (fn: string) =>
  ({ spec }: Manifest): boolean =>
    spec.subscriber.ref.name !== fn

/** Its folder, for `kubectl -k`. */
export async function overlay(cluster: Cluster, { components = [], tag, leftOut = () => false }: Wanted): Promise<string> {
  const folder = await mkdtemp(join(cluster.folder, 'overlay-'))
  const from = (path = '') => join(relative(folder, knative), path)
  const patches = without((await allTriggers(components)).filter(leftOut)).map(patch => ({ patch: JSON.stringify(patch) }))
  const kustomization = {
    resources: [from()],
    components: components.map(name => from(`components/${name}`)),
    ...(tag !== undefined && { images: [{ name: 'ghcr.io/drover/drover', newTag: tag }] }),
    patches
  }
  await writeFile(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization))
  return folder
}
