import type { Kind } from '../schema/kind.ts'
import { KubeError } from './errors.ts'

export interface Reference {
  name: string
  namespace?: string | undefined
}

type Query = Record<string, string | number | boolean | undefined>

/** The path of a kind, within a namespace or over all of them. */
export function collectionPath(kind: Kind, namespace?: string, query: Query = {}): string {
  return resource(kind, namespace) + search(query)
}

export function objectPath(kind: Kind, { name, namespace }: Reference, subresource?: string, query: Query = {}): string {
  if (!name) throw new KubeError('BadRequest', `a ${kind.kind} without a name`)
  if (kind.namespaced && !namespace) throw new KubeError('BadRequest', `the ${kind.kind} ${name} without a namespace`)
  const object = `${resource(kind, namespace)}/${encodeURIComponent(name)}`
  return (subresource === undefined ? object : `${object}/${subresource}`) + search(query)
}

function resource({ group, version, plural, namespaced }: Kind, namespace?: string): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  return namespaced && namespace ? `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}` : `${root}/${plural}`
}

function search(query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([key, value]): [string, string] => [key, String(value)])).toString()}`
}
