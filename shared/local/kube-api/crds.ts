// Keeps the registry in step with the CustomResourceDefinitions that are stored.
import type { Call, Cluster } from './cluster.ts'
import { resourcesOf } from './crd.ts'
import { at, type KubeObject } from './object.ts'
import { admin } from './tokens.ts'
import { patch } from './write.ts'

const shelf = 'apiextensions.k8s.io/customresourcedefinitions'

export function serveCrds({ store, registry }: Cluster): void {
  const withdraw = (crd: KubeObject): void =>
    registry.remove(String(at(crd, 'spec', 'group')), String(at(crd, 'spec', 'names', 'plural')))
  const offer = (crd: KubeObject): void => {
    withdraw(crd)
    for (const resource of resourcesOf(crd)) registry.add(resource)
  }
  // The objects go with their definition.
  const empty = (crd: KubeObject): void => {
    const resource = `${String(at(crd, 'spec', 'group'))}/${String(at(crd, 'spec', 'names', 'plural'))}`
    for (const object of store.list(resource)) store.remove(resource, object)
  }
  for (const crd of store.list(shelf)) offer(crd)
  store.observe((changed, { type, object }) => {
    if (changed !== shelf) return
    if (type !== 'DELETED') return offer(object)
    empty(object)
    withdraw(object)
  })
}

/** The definitions given at start are applied like anybody's, so that a newer version replaces the one in the state file. */
export async function installCrds(cluster: Cluster, crds: object[]): Promise<void> {
  const resource = cluster.registry.find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions')
  if (!resource) return
  for (const crd of crds) {
    const name = String(at(crd, 'metadata', 'name'))
    const options = { dryRun: false, fieldManager: 'drover', force: true, fieldValidation: 'Ignore' as const }
    const call: Call = { resource, namespace: '', name, subresource: '', user: admin, options, warnings: [] }
    await patch(cluster, call, 'application/apply-patch+yaml', crd)
  }
}
