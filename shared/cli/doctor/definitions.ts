// Are Drover's kinds there, and those of this very version?
import { isDeepStrictEqual } from 'node:util'
import type { Kube } from '../../kube/index.ts'
import { kinds } from '../../schema/index.ts'
import type { Crd } from '../../schema/crd.ts'
import { isRecord } from '../../schema/openapi.ts'
import { toDocument } from '../../schema/to-yaml.ts'
import { bad, conditionOf, doubtful, fine, foreign, see, type Conditioned, type Finding } from './finding.ts'

interface Definition extends Conditioned {
  spec: { versions: Array<{ name: string; served: boolean; schema?: { openAPIV3Schema?: unknown } }> }
}
const Definition = foreign<Definition>(
  'apiextensions.k8s.io',
  'v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
  false
)

const install = 'kubectl apply -k crds/'

/** Every field with its type. The server writes a schema down in its own way, so that only this can be compared. */
function fieldsOf(schema: unknown, path = ''): string[] {
  if (!isRecord(schema)) return []
  const { properties, items, additionalProperties, type = '' } = schema
  const inner = Object.entries(isRecord(properties) ? properties : {})
  return [
    `${path}:${String(type)}`,
    ...inner.flatMap(([name, field]) => fieldsOf(field, `${path}.${name}`)),
    ...fieldsOf(items, `${path}[]`),
    ...fieldsOf(additionalProperties, `${path}.*`)
  ].toSorted()
}

function judge(kind: Crd, found: Definition | undefined): Finding | undefined {
  const name = `${kind.plural}.${kind.group}`
  if (!found) return bad('kinds', `${name} is not installed`, install)
  const version = found.spec.versions.find(one => one.name === kind.version)
  if (!version?.served) return bad('kinds', `${name} does not serve ${kind.version}`, install)
  if (conditionOf(found, 'Established')?.status === 'False')
    return bad('kinds', `${name} was not accepted: ${conditionOf(found, 'Established')?.message}`, `kubectl describe crd ${name}`)
  const [own] = toDocument(kind).spec.versions
  return isDeepStrictEqual(fieldsOf(own?.schema.openAPIV3Schema), fieldsOf(version.schema?.openAPIV3Schema))
    ? undefined
    : doubtful('kinds', `${name} is of another version of Drover than this command`, install)
}

export async function checkDefinitions(kube: Kube): Promise<Finding[]> {
  const seen = await see(kube, Definition, { tone: 'bad', line: 'this is no Kubernetes API', todo: 'look at the kubeconfig' })
  if ('problem' in seen) return [seen.problem]
  const byName = new Map(seen.items.map(definition => [definition.metadata?.name, definition]))
  const found = kinds.flatMap(kind => judge(kind, byName.get(`${kind.plural}.${kind.group}`)) ?? [])
  return found.length > 0 ? found : [fine('kinds', `all ${kinds.length} are installed, as this version has them`)]
}
