// Keeps the registry in step with the CustomResourceDefinitions that are stored.
import type { Cluster } from './cluster.ts'
import { resourcesOf } from './crd.ts'
import { at, type KubeObject } from './object.ts'

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
