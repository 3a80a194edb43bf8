// What one endpoint may change of an object, and when that counts as a new generation.
import { omit, same, type Fields, type KubeObject } from './object.ts'
import type { Resource } from './resource.ts'

/** The status endpoint writes status alone, the main one everything but status. */
export function keepScope(resource: Resource, subresource: string, wanted: KubeObject, live: KubeObject): KubeObject {
  if (subresource === 'status') {
    const { managedFields } = wanted.metadata
    const metadata = { ...live.metadata, ...(managedFields && { managedFields }) }
    const rest = { ...omit(live, 'status'), metadata }
    return 'status' in wanted ? { ...rest, status: wanted.status } : rest
  }
  if (!resource.hasStatus) return wanted
  const rest = omit(wanted, 'status')
  return 'status' in live ? { ...rest, status: live.status } : rest
}

export function withGeneration(resource: Resource, object: KubeObject, live: KubeObject): KubeObject {
  if (!resource.hasGeneration) return object
  const counted = (each: KubeObject): Fields => (resource.hasStatus ? omit(each, 'metadata', 'status') : omit(each, 'metadata'))
  if (same(counted(object), counted(live))) return object
  return { ...object, metadata: { ...object.metadata, generation: (live.metadata.generation ?? 0) + 1 } }
}
