import type { ObjectRef, Received } from './kind.ts'
import { objectType } from './objects.ts'

const prefix = /^dev\.knative\.apiserver\.(?:resource|ref)\.(add|update|delete)$/

/**
 * What Knative's ApiServerSource says, in our own words: the reference alone, since a function reads the object itself.
 * `changed` stays absent, because the source cannot tell.
 */
export function fromApiServerSource(event: Received): Received<ObjectRef> | undefined {
  const verb = prefix.exec(event.type)?.[1]
  const { kind, name, namespace, apiversion } = event.extensions
  if (verb === undefined || !kind || !name || !apiversion) return undefined
  const slash = apiversion.lastIndexOf('/')
  const group = slash < 0 ? '' : apiversion.slice(0, slash)
  const { changed: _, ...rest } = event
  return {
    ...rest,
    type: objectType(group, kind, verb === 'delete' ? 'deleted' : 'changed'),
    subject: namespace ? `${namespace}/${name}` : name,
    // the source sends an empty namespace for cluster-scoped objects
    data: { apiVersion: apiversion, kind, name, ...(namespace ? { namespace } : {}) }
  }
}
