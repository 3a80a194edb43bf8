// What is served: the documents that kubectl reads before anything else, in the old and in the aggregated form.
import type { Fields } from './object.ts'
import type { Registry, Resource } from './resource.ts'
import { questions, type Question } from './reviews.ts'

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

interface Served {
  group: string
  version: string
  resources: Resource[]
  questions: Question[]
}

/** Groups and versions in the order in which they were registered, core first. */
export function served(registry: Registry): Served[] {
  const found = new Map<string, Served>()
  const at = (group: string, version: string): Served => {
    const key = `${group}/${version}`
    const entry = found.get(key) ?? { group, version, resources: [], questions: [] }
    found.set(key, entry)
    return entry
  }
  for (const resource of registry.all()) at(resource.group, resource.version).resources.push(resource)
  for (const question of questions) at(question.group, 'v1').questions.push(question)
  return [...found.values()]
}

export const apiVersions = (): Fields => ({ kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] })

const groupVersion = ({ group, version }: Served): Fields => ({ groupVersion: group ? `${group}/${version}` : version, version })

function groupOf(name: string, versions: Served[]): Fields {
  const all = versions.map(groupVersion)
  return { name, versions: all, preferredVersion: all[0] }
}

const byGroup = (registry: Registry): Map<string, Served[]> => Map.groupBy(served(registry), each => each.group)

export const groupList = (registry: Registry): Fields => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: [...byGroup(registry)].filter(([name]) => name !== '').map(([name, versions]) => groupOf(name, versions))
})

export function oneGroup(registry: Registry, name: string): Fields | undefined {
  const versions = byGroup(registry).get(name)
  return versions && { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(name, versions) }
}

export function resourceList(registry: Registry, group: string, version: string): Fields | undefined {
  const found = served(registry).find(each => each.group === group && each.version === version)
  if (!found) return undefined
  const resources = found.resources.flatMap(resource => {
    const { plural, singular, namespaced, kind, shortNames, categories } = resource
    const extra = { ...(shortNames.length > 0 && { shortNames }), ...(categories.length > 0 && { categories }) }
    const subresources = subresourcesOf(resource).map(({ name, kind: type, verbs: allowed }) => ({
      name: `${plural}/${name}`,
      singularName: '',
      namespaced,
      kind: type,
      verbs: allowed
    }))
    return [{ name: plural, singularName: singular, namespaced, kind, verbs, ...extra }, ...subresources]
  })
  const asked = found.questions.map(({ resource, kind }) => ({
    name: resource,
    singularName: kind.toLowerCase(),
    namespaced: false,
    kind,
    verbs: ['create']
  }))
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: groupVersion(found).groupVersion,
    resources: [...resources, ...asked]
  }
}

function subresourcesOf({ hasStatus, subresources, kind }: Resource): Array<{ name: string; kind: string; verbs: string[] }> {
  const others = subresources.map(name => ({ name, kind: name === 'token' ? 'TokenRequest' : kind, verbs: ['create'] }))
  return hasStatus ? [{ name: 'status', kind, verbs: ['get', 'patch', 'update'] }, ...others] : others
}

/** apidiscovery.k8s.io/v2: everything in one answer for each of /api and /apis. */
export function aggregated(registry: Registry, core: boolean): Fields {
  const items = [...byGroup(registry)]
    .filter(([name]) => (name === '') === core)
    .map(([name, versions]) => ({ metadata: name ? { name } : {}, versions: versions.map(aggregatedVersion) }))
  return { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items }
}

function aggregatedVersion({ group, version, resources, questions: asked }: Served): Fields {
  const responseKind = (kind: string): Fields => ({ group, version, kind })
  const stored = resources.map(resource => {
    const { plural, singular, namespaced, kind, shortNames, categories } = resource
    return {
      resource: plural,
      responseKind: responseKind(kind),
      scope: namespaced ? 'Namespaced' : 'Cluster',
      singularResource: singular,
      verbs,
      ...(shortNames.length > 0 && { shortNames }),
      ...(categories.length > 0 && { categories }),
      subresources: subresourcesOf(resource).map(({ name, kind: type, verbs: allowed }) => ({
        subresource: name,
        responseKind: responseKind(type),
        verbs: allowed
      }))
    }
  })
  const answered = asked.map(({ resource, kind }) => ({
    resource,
    responseKind: responseKind(kind),
    scope: 'Cluster',
    singularResource: kind.toLowerCase(),
    verbs: ['create']
  }))
  return { version, freshness: 'Current', resources: [...stored, ...answered] }
}
