// Kinds → the CRD documents of crds/, as text.
import { stringify } from 'yaml'
import type { Crd } from './crd.ts'
import { type OpenApi, openApiSchema } from './openapi.ts'

const head = '# Written by `npm run crds` from shared/schema. Do not edit.\n'
const render = (document: object) => head + stringify(document, { lineWidth: 0, aliasDuplicateObjects: false })

export const fileName = ({ plural, group }: Crd) => `${plural}.${group}.yaml`

export function toDocument(kind: Crd) {
  const { group, version, plural, definition } = kind
  const { shortNames, scope, columns } = definition
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind: kind.kind, listKind: `${kind.kind}List`, plural, singular: kind.kind.toLowerCase(), shortNames },
      scope,
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: columns.map(({ name, jsonPath, type = 'string', priority }) => ({
            name,
            type,
            jsonPath,
            priority
          })),
          schema: { openAPIV3Schema: readable(openApiSchema(kind)) }
        }
      ]
    }
  }
}

/** What a node is stands before what is in it. Fields that are undefined do not reach the YAML. */
function readable({ description, type, properties, items, additionalProperties, ...rest }: OpenApi): object {
  return {
    description,
    type,
    ...rest,
    properties: properties && Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, readable(schema)])),
    items: items && readable(items),
    additionalProperties: typeof additionalProperties === 'object' ? readable(additionalProperties) : additionalProperties
  }
}

/** File name → content of the whole folder. */
export function crdFiles(kinds: readonly Crd[]): Record<string, string> {
  const files = Object.fromEntries(kinds.map(kind => [fileName(kind), render(toDocument(kind))]))
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: Object.keys(files).sort()
  }
  return { ...files, 'kustomization.yaml': render(kustomization) }
}
