// The forms that an answer can take: the object itself, a table for people, or its metadata only.
import { type Fields, type KubeObject } from './object.ts'
import type { ListPage } from './list.ts'
import { present, type Resource } from './resource.ts'
import { ApiError } from './status.ts'

export type Form = 'object' | 'table' | 'metadata'

const forms: Record<string, Form> = {
  Table: 'table',
  PartialObjectMetadata: 'metadata',
  PartialObjectMetadataList: 'metadata'
}

/** The first accepted form that we have; 406 when there is none. */
export function formOf(accept: string | undefined): Form {
  if (!accept) return 'object'
  for (const each of accept.split(',')) {
    const [type = '', ...parameters] = each.split(';').map(part => part.trim())
    if (!['application/json', '*/*', 'application/*'].includes(type)) continue
    const as = parameters.find(parameter => parameter.startsWith('as='))?.slice(3)
    if (as === undefined) return 'object'
    const form = forms[as]
    if (form) return form
  }
  throw new ApiError(406, 'NotAcceptable', 'only the following media types are accepted: application/json')
}

const metaApi = 'meta.k8s.io/v1'

const partial = ({ metadata }: KubeObject): Fields => ({ kind: 'PartialObjectMetadata', apiVersion: metaApi, metadata })

export interface TableOptions {
  now: Date
  include: 'None' | 'Metadata' | 'Object'
  /** A watch sends the columns once. */
  columns: boolean
}

export function tableOf(
  { columns }: Resource,
  objects: KubeObject[],
  metadata: object,
  { now, include, columns: told }: TableOptions
): Fields {
  const columnDefinitions = columns.map(({ name, type, format = '', description = '', priority = 0 }) => ({
    name,
    type,
    format,
    description,
    priority
  }))
  const rows = objects.map(object => ({
    cells: columns.map(column => column.cell(object, now)),
    ...(include !== 'None' && { object: include === 'Object' ? object : partial(object) })
  }))
  return { kind: 'Table', apiVersion: metaApi, metadata, columnDefinitions: told ? columnDefinitions : [], rows }
}

export function presentOne(resource: Resource, object: KubeObject, form: Form, options: TableOptions): Fields {
  if (form === 'metadata') return partial(object)
  if (form === 'object') return object
  return tableOf(resource, [object], { resourceVersion: object.metadata.resourceVersion }, options)
}

export function presentList(resource: Resource, { items, metadata }: ListPage, form: Form, options: TableOptions): Fields {
  const objects = items.map(item => present(resource, item))
  if (form === 'table') return tableOf(resource, objects, metadata, options)
  if (form === 'metadata')
    return { kind: 'PartialObjectMetadataList', apiVersion: metaApi, metadata, items: objects.map(partial) }
  return { kind: resource.listKind, apiVersion: resource.apiVersion, metadata, items: objects }
}

export const includeOf = (query: URLSearchParams): TableOptions['include'] => {
  const asked = query.get('includeObject')
  return asked === 'None' || asked === 'Object' ? asked : 'Metadata'
}
