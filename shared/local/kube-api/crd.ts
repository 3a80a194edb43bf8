// From a CustomResourceDefinition to the resources that it serves, and the status that says so.
import { ageColumn, nameColumn } from './builtin-columns.ts'
import { objectMeta } from './builtin-schemas.ts'
import { age } from './duration.ts'
import { jsonPath } from './json-path.ts'
import { at, fieldsOf, isFields, listOf, text, type Fields, type KubeObject } from './object.ts'
import { apiVersionOf, type Column, type Resource } from './resource.ts'
import { anything, type Schema } from './schema.ts'

const texts = (value: unknown): string[] => listOf(value).map(text)

export function resourcesOf(crd: KubeObject): Resource[] {
  const spec = fieldsOf(crd.spec)
  const names = fieldsOf(spec.names)
  const group = text(spec.group)
  return listOf(spec.versions)
    .map(fieldsOf)
    .filter(version => version.served === true)
    .map(version => ({
      group,
      version: text(version.name),
      apiVersion: apiVersionOf(group, text(version.name)),
      kind: text(names.kind),
      listKind: text(names.listKind) || `${text(names.kind)}List`,
      plural: text(names.plural),
      singular: text(names.singular) || text(names.kind).toLowerCase(),
      shortNames: texts(names.shortNames),
      categories: texts(names.categories),
      namespaced: spec.scope === 'Namespaced',
      shelf: `${group}/${text(names.plural)}`,
      schema: rootSchema(fieldsOf(version.schema).openAPIV3Schema),
      custom: true,
      hasStatus: isFields(at(version, 'subresources', 'status')),
      hasGeneration: true,
      columns: columnsOf(version),
      selectable: Object.fromEntries(
        listOf(version.selectableFields).map(field => {
          const path = text(at(field, 'jsonPath'))
          return [path.replace(/^\./, ''), jsonPath(path)]
        })
      ),
      subresources: []
    }))
}

// metadata is the server's own affair, whatever a CRD says of it; it may narrow the name.
function rootSchema(schema: unknown): Schema {
  const root: Schema = isFields(schema) ? schema : { type: 'object', ...anything }
  const given = root.properties?.metadata
  const metadata = { ...objectMeta, ...given, properties: { ...objectMeta.properties, ...given?.properties } }
  return { ...root, properties: { apiVersion: { type: 'string' }, kind: { type: 'string' }, ...root.properties, metadata } }
}

function columnsOf(version: Fields): Column[] {
  const given = listOf(version.additionalPrinterColumns).map(fieldsOf)
  if (given.length === 0) return [nameColumn, ageColumn]
  return [nameColumn, ...given.map(columnOf)]
}

function columnOf({ name, type, format, priority, description, jsonPath: path }: Fields): Column {
  const read = jsonPath(text(path))
  const isDate = type === 'date'
  return {
    name: text(name),
    type: text(type),
    format: text(format),
    priority: Number(priority ?? 0),
    description: text(description) || `Custom resource definition column (in JSONPath format): ${text(path)}`,
    cell(object, now) {
      const value = read(object) ?? null
      if (isDate) return value === null ? null : age(value, now)
      return isFields(value) || Array.isArray(value) ? JSON.stringify(value) : value
    }
  }
}

export function defaultCrd(crd: KubeObject): KubeObject {
  const spec = fieldsOf(crd.spec)
  const names = fieldsOf(spec.names)
  const kind = text(names.kind)
  const filled = { singular: kind.toLowerCase(), listKind: `${kind}List`, ...names }
  return { ...crd, spec: { conversion: { strategy: 'None' }, ...spec, names: filled } }
}

export function establish(crd: KubeObject, now: string): KubeObject {
  const spec = fieldsOf(crd.spec)
  const stored = listOf(spec.versions)
    .filter(version => at(version, 'storage') === true)
    .map(version => at(version, 'name'))
  const condition = (type: string, reason: string, message: string) => ({
    type,
    status: 'True',
    reason,
    message,
    lastTransitionTime: now
  })
  const conditions = [
    condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
    condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted')
  ]
  return { ...crd, status: { conditions, acceptedNames: spec.names, storedVersions: stored } }
}
