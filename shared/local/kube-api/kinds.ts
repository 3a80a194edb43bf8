// The little that the server itself adds to objects of some built-in kinds.
import { defaultCrd, establish } from './crd.ts'
import { at, fieldsOf, isFields, omit, type KubeObject } from './object.ts'
import { notText } from './metadata.ts'
import { defaultBinding, defaultPolicy } from './policy-check.ts'
import type { Resource } from './resource.ts'

type Fill = (object: KubeObject, now: string) => KubeObject

const namespaceLabel = 'kubernetes.io/metadata.name'

const phase =
  (name: string): Fill =>
  object => ({ ...object, status: { phase: name } })

const onCreate: Record<string, Fill> = {
  Namespace: object => ({ ...object, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } }),
  Pod: phase('Pending'),
  PersistentVolumeClaim: phase('Pending'),
  CustomResourceDefinition: establish
}

const onWrite: Record<string, Fill> = {
  Namespace: object => {
    const labels = { ...object.metadata.labels, [namespaceLabel]: object.metadata.name }
    return { ...object, metadata: { ...object.metadata, labels } }
  },
  Node: object => (isFields(object.spec) ? object : { ...object, spec: {} }),
  ConfigMap: object => withoutEmpty(object, 'data', 'binaryData'),
  Secret: object => {
    const plain = Object.entries(fieldsOf(object.stringData)).map(
      ([key, value]) => [key, Buffer.from(String(value)).toString('base64')] as const
    )
    const data = plain.length > 0 ? { data: { ...fieldsOf(object.data), ...Object.fromEntries(plain) } } : {}
    return withoutEmpty({ type: 'Opaque', ...omit(object, 'stringData'), ...data }, 'data')
  },
  ValidatingAdmissionPolicy: defaultPolicy,
  ValidatingAdmissionPolicyBinding: defaultBinding,
  CustomResourceDefinition: (object, now) => {
    const filled = defaultCrd(object)
    return at(filled, 'status', 'conditions')
      ? { ...filled, status: { ...fieldsOf(establish(filled, now).status), conditions: at(filled, 'status', 'conditions') } }
      : filled
  }
}

/** The real server's own types leave out a map with nothing in it. */
const withoutEmpty = (object: KubeObject, ...maps: string[]): KubeObject =>
  maps.reduce((rest, map) => (isFields(rest[map]) && Object.keys(rest[map]).length === 0 ? omit(rest, map) : rest), object)

const texts: Record<string, string[]> = { ConfigMap: ['data', 'binaryData'], Secret: ['data', 'stringData'] }

/** A map of strings that holds something else is refused while decoding, before any validation. */
export function checkTexts(resource: Resource, object: KubeObject): void {
  for (const key of (isBuiltin(resource) && texts[resource.kind]) || [])
    for (const value of Object.values(fieldsOf(object[key])))
      if (typeof value !== 'string' && value !== null) throw notText(resource, resource.kind, key, value)
}

const isBuiltin = ({ custom, group }: Resource): boolean => !custom && group !== 'events.k8s.io'

export const fillNew = (resource: Resource, object: KubeObject, now: string): KubeObject =>
  (isBuiltin(resource) && onCreate[resource.kind]?.(object, now)) || object

export const fillWritten = (resource: Resource, object: KubeObject, now: string): KubeObject =>
  (isBuiltin(resource) && onWrite[resource.kind]?.(object, now)) || object
