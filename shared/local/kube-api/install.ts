// What is there from the start is applied like anybody's, so that a newer version replaces the one in the state file.
import type { Call, Cluster } from './cluster.ts'
import { text, type KubeObject } from './object.ts'
import type { Resource } from './resource.ts'
import { admin } from './tokens.ts'
import { patch } from './write.ts'

/** Definitions first. Of kinds that are not served here nothing is installed; a namespace that is missing is made. */
export async function install(cluster: Cluster, objects: readonly object[]): Promise<void> {
  const rank = ({ kind }: KubeObject): number => ['CustomResourceDefinition', 'Namespace'].indexOf(kind)
  const given = (objects as KubeObject[]).toSorted((a, b) => rank(b) - rank(a))
  for (const object of given) {
    const resource = cluster.registry.byKind(text(object.apiVersion), text(object.kind))
    if (!resource) continue
    const namespace = resource.namespaced ? (object.metadata.namespace ?? 'default') : ''
    if (namespace && !cluster.store.get('/namespaces', '', namespace)) await install(cluster, [namespaceObject(namespace)])
    await applyOne(cluster, resource, namespace, object)
  }
}

const namespaceObject = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })

async function applyOne(cluster: Cluster, resource: Resource, namespace: string, object: KubeObject): Promise<void> {
  const options = { dryRun: false, fieldManager: 'drover', force: true, fieldValidation: 'Ignore' as const }
  const { name } = object.metadata
  const call: Call = { resource, namespace, name, subresource: '', user: admin, options, warnings: [] }
  await patch(cluster, call, 'application/apply-patch+yaml', object)
}
