// OpenAPI v3: an index, and a document for each group version, good enough for `kubectl explain` and for kubectl to see that the
// server validates fields itself.
import { createHash } from 'node:crypto'
import { served } from './discovery.ts'
import { isFields, type Fields } from './object.ts'
import type { Registry, Resource } from './resource.ts'
import type { Schema } from './schema.ts'

const pathOf = (group: string, version: string): string => (group ? `apis/${group}/${version}` : `api/${version}`)

export function openApiIndex(registry: Registry): Fields {
  const paths = served(registry).map(({ group, version }) => {
    const path = pathOf(group, version)
    const hash = createHash('sha256')
      .update(JSON.stringify(openApiDocument(registry, path)))
      .digest('hex')
      .slice(0, 32)
      .toUpperCase()
    return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }] as const
  })
  return { paths: Object.fromEntries(paths) }
}

export function openApiDocument(registry: Registry, path: string): Fields | undefined {
  const found = served(registry).find(({ group, version }) => pathOf(group, version) === path)
  if (!found) return undefined
  const schemas = Object.fromEntries(
    found.resources.map(resource => [schemaName(resource), { ...published(resource.schema), ...gvk(resource) }])
  )
  const paths = Object.fromEntries(found.resources.flatMap(resource => operations(resource, path)))
  return {
    openapi: '3.0.0',
    info: { title: 'Drover embedded Kubernetes API', version: 'v1.36.0' },
    paths,
    components: { schemas }
  }
}

// Such as io.k8s.api.core.v1.Node: kubectl only needs names that differ.
const schemaName = ({ group, version, kind }: Resource): string =>
  [...(group || 'core.api.k8s.io').split('.').toReversed(), version, kind].join('.')

const gvk = ({ group, version, kind }: Resource): Fields => ({ 'x-kubernetes-group-version-kind': [{ group, version, kind }] })

/** A schema without the marks that are only ours. */
function published(schema: Schema): Fields {
  const { open: _, properties, items, additionalProperties: more, ...rest } = schema
  return {
    ...rest,
    ...(schema.open && { type: 'object' }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, each]) => [key, published(each)]))
    }),
    ...(items && { items: published(items) }),
    ...(more !== undefined && { additionalProperties: isFields(more) ? published(more) : more })
  }
}

const parameter = (name: string): Fields => ({ name, in: 'query', schema: { type: 'string', uniqueItems: true } })
const writeParameters = ['dryRun', 'fieldManager', 'fieldValidation'].map(parameter)

function operations(resource: Resource, path: string): Array<[string, Fields]> {
  const kind = { 'x-kubernetes-group-version-kind': { group: resource.group, version: resource.version, kind: resource.kind } }
  const content = { 'application/json': { schema: { $ref: `#/components/schemas/${schemaName(resource)}` } } }
  const operation = (action: string, parameters: Fields[] = []): Fields => ({
    'x-kubernetes-action': action,
    ...kind,
    parameters,
    responses: { 200: { description: 'OK', content } }
  })
  const base = `/${path}/${resource.namespaced ? 'namespaces/{namespace}/' : ''}${resource.plural}`
  return [
    [base, { get: operation('list'), post: { ...operation('post', writeParameters), requestBody: { content } } }],
    [
      `${base}/{name}`,
      {
        get: operation('get'),
        put: { ...operation('put', writeParameters), requestBody: { content } },
        patch: operation('patch', [...writeParameters, parameter('force')]),
        delete: operation('delete', [parameter('dryRun')])
      }
    ]
  ]
}
