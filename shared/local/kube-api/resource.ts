// What the server knows of a resource, be it built in or defined by a CustomResourceDefinition.
import type { Fields, KubeObject } from './object.ts'
import type { Schema } from './schema.ts'

export interface Column {
  name: string
  type: string
  format?: string
  priority?: number
  description?: string
  cell(object: KubeObject, now: Date): unknown
}

export interface Resource {
  group: string
  version: string
  apiVersion: string
  kind: string
  listKind: string
  plural: string
  singular: string
  shortNames: string[]
  categories: string[]
  namespaced: boolean
  /** Where the objects are kept; two versions, or two groups, may share a shelf. */
  shelf: string
  schema: Schema
  /** Pruned, defaulted and validated by its schema. */
  custom: boolean
  hasStatus: boolean
  hasGeneration: boolean
  columns: Column[]
  /** Field selectors beside metadata.name and metadata.namespace, and how the value is found. */
  selectable: Record<string, (object: KubeObject) => unknown>
  /** From the stored form to this resource's and back, where the two differ by more than apiVersion. */
  convert?: { read(object: Fields): Fields; write(object: Fields): Fields }
  /** Further subresources: token, eviction, scale… */
  subresources: string[]
}

export const qualifiedName = ({ group, plural }: Resource): string => (group ? `${plural}.${group}` : plural)

export const apiVersionOf = (group: string, version: string): string => (group ? `${group}/${version}` : version)

export function present(resource: Resource, stored: KubeObject): KubeObject {
  if (stored.apiVersion === resource.apiVersion) return stored
  const converted = resource.convert ? resource.convert.read(stored) : stored
  return { ...converted, apiVersion: resource.apiVersion } as KubeObject
}

export class Registry {
  readonly #byPath = new Map<string, Resource>()
  /** Changes with every change, so that documents made from it can be cached. */
  generation = 0

  add(resource: Resource): void {
    this.#byPath.set(pathOf(resource), resource)
    this.generation++
  }

  remove(group: string, plural: string): void {
    for (const [path, resource] of this.#byPath)
      if (resource.group === group && resource.plural === plural) this.#byPath.delete(path)
    this.generation++
  }

  find(group: string, version: string, plural: string): Resource | undefined {
    return this.#byPath.get(pathOf({ group, version, plural }))
  }

  byKind(apiVersion: string, kind: string): Resource | undefined {
    return this.all().find(resource => resource.apiVersion === apiVersion && resource.kind === kind)
  }

  all(): Resource[] {
    return [...this.#byPath.values()]
  }
}

const pathOf = ({ group, version, plural }: { group: string; version: string; plural: string }): string =>
  `${group}/${version}/${plural}`
