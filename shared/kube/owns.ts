import type { KubeObject } from '../schema/kind.ts'

/** Whether the manager set this field by server-side apply, and nobody has changed it since. Pure: decide files import this. */
export function owns(object: KubeObject | undefined, manager: string, ...path: string[]): boolean {
  const applied = object?.metadata?.managedFields?.find(
    entry => entry.manager === manager && entry.operation === 'Apply' && entry.subresource === undefined
  )
  let at: unknown = applied?.fieldsV1
  for (const part of path) at = (at as Record<string, unknown> | undefined)?.[`f:${part}`]
  return at !== undefined
}
