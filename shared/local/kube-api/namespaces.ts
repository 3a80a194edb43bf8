// The two controllers that every namespace meets: one gives it a service account, the other empties it before it goes.
import { randomUUID } from 'node:crypto'
import type { Cluster } from './cluster.ts'
import { timestamp, type KubeObject } from './object.ts'

export function startNamespaces({ store, clock }: Cluster): void {
  const welcome = ({ metadata: { name } }: KubeObject): void => {
    if (store.get('/serviceaccounts', name, 'default')) return
    const metadata = { name: 'default', namespace: name, uid: randomUUID(), creationTimestamp: timestamp(clock()) }
    store.put('/serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', metadata })
  }

  const contents = (name: string): Array<{ shelf: string; object: KubeObject }> =>
    store.resources().flatMap(shelf =>
      store
        .list(shelf)
        .filter(object => object.metadata.namespace === name)
        .map(object => ({ shelf, object }))
    )

  const empty = (namespace: KubeObject): void => {
    for (const { shelf, object } of contents(namespace.metadata.name)) {
      const { finalizers = [], deletionTimestamp } = object.metadata
      if (finalizers.length === 0) store.remove(shelf, object)
      else if (!deletionTimestamp)
        store.put(shelf, {
          ...object,
          metadata: { ...object.metadata, deletionTimestamp: timestamp(clock()), deletionGracePeriodSeconds: 0 }
        })
    }
    const { finalizers = [] } = namespace.metadata
    if (contents(namespace.metadata.name).length > 0 || finalizers.length > 0) return
    store.remove('/namespaces', namespace)
  }

  const due = new Set<string>()
  const attend = (name: string): void => {
    if (due.has(name)) return
    due.add(name)
    setImmediate(() => {
      due.delete(name)
      const namespace = store.get('/namespaces', '', name)
      if (namespace?.metadata.deletionTimestamp) empty(namespace)
      else if (namespace) welcome(namespace)
    })
  }

  store.observe((shelf, { type, object }) => {
    if (shelf === '/namespaces') attend(object.metadata.name)
    else if (type === 'DELETED' && object.metadata.namespace) attend(object.metadata.namespace)
  })
  for (const namespace of store.list('/namespaces')) attend(namespace.metadata.name)
}
