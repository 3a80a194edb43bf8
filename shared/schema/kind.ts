// What a client must know of a kind to address it. The type parameter is the object that the kind stands for.

export interface ObjectMeta {
  name: string
  namespace?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  creationTimestamp?: string
  deletionTimestamp?: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
  finalizers?: string[]
  ownerReferences?: OwnerReference[]
  managedFields?: ManagedFields[]
}

export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

export interface ManagedFields {
  manager?: string
  operation?: string
  apiVersion?: string
  time?: string
  fieldsType?: string
  fieldsV1?: object
  subresource?: string
}

export interface KubeObject {
  apiVersion?: string
  kind?: string
  metadata?: Partial<ObjectMeta>
}

export interface Kind<T extends KubeObject = KubeObject> {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly namespaced: boolean
  /** Never set: it only carries the type. */
  readonly object?: T
}

export const apiVersion = ({ group, version }: Kind): string => (group === '' ? version : `${group}/${version}`)
