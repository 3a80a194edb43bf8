// The built-in kinds that Drover touches. Types only come from client-node: importing this file loads nothing.
import type {
  EventsV1Event,
  V1CertificateSigningRequest,
  V1ClusterRole,
  V1ClusterRoleBinding,
  V1ConfigMap,
  V1Deployment,
  V1Lease,
  V1Namespace,
  V1Node,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodDisruptionBudget,
  V1Role,
  V1RoleBinding,
  V1Secret,
  V1ServiceAccount
} from '@kubernetes/client-node'
import type { Kind, KubeObject } from '../schema/kind.ts'

/** client-node's types are of objects that its own decoder made; in the JSON that travels a time is a string. */
export type Wire<T> = T extends Date
  ? string
  : T extends (infer U)[]
    ? Wire<U>[]
    : T extends object
      ? { [K in keyof T]: Wire<T[K]> }
      : T

const kind = <T extends KubeObject>(group: string, kind: string, plural: string, namespaced = true): Kind<T> => ({
  group,
  version: 'v1',
  kind,
  plural,
  namespaced
})

export type Node = Wire<V1Node>
export const Node = kind<Node>('', 'Node', 'nodes', false)
export type Namespace = Wire<V1Namespace>
export const Namespace = kind<Namespace>('', 'Namespace', 'namespaces', false)
export type Pod = Wire<V1Pod>
export const Pod = kind<Pod>('', 'Pod', 'pods')
export type Secret = Wire<V1Secret>
export const Secret = kind<Secret>('', 'Secret', 'secrets')
export type ConfigMap = Wire<V1ConfigMap>
export const ConfigMap = kind<ConfigMap>('', 'ConfigMap', 'configmaps')
export type ServiceAccount = Wire<V1ServiceAccount>
export const ServiceAccount = kind<ServiceAccount>('', 'ServiceAccount', 'serviceaccounts')
export type PersistentVolumeClaim = Wire<V1PersistentVolumeClaim>
export const PersistentVolumeClaim = kind<PersistentVolumeClaim>('', 'PersistentVolumeClaim', 'persistentvolumeclaims')
export type CertificateSigningRequest = Wire<V1CertificateSigningRequest>
export const CertificateSigningRequest = kind<CertificateSigningRequest>(
  'certificates.k8s.io',
  'CertificateSigningRequest',
  'certificatesigningrequests',
  false
)
export type Deployment = Wire<V1Deployment>
export const Deployment = kind<Deployment>('apps', 'Deployment', 'deployments')
export type PodDisruptionBudget = Wire<V1PodDisruptionBudget>
export const PodDisruptionBudget = kind<PodDisruptionBudget>('policy', 'PodDisruptionBudget', 'poddisruptionbudgets')
export type Lease = Wire<V1Lease>
export const Lease = kind<Lease>('coordination.k8s.io', 'Lease', 'leases')
export type Event = Wire<EventsV1Event>
export const Event = kind<Event>('events.k8s.io', 'Event', 'events')
export type Role = Wire<V1Role>
export const Role = kind<Role>('rbac.authorization.k8s.io', 'Role', 'roles')
export type RoleBinding = Wire<V1RoleBinding>
export const RoleBinding = kind<RoleBinding>('rbac.authorization.k8s.io', 'RoleBinding', 'rolebindings')
export type ClusterRole = Wire<V1ClusterRole>
export const ClusterRole = kind<ClusterRole>('rbac.authorization.k8s.io', 'ClusterRole', 'clusterroles', false)
export type ClusterRoleBinding = Wire<V1ClusterRoleBinding>
export const ClusterRoleBinding = kind<ClusterRoleBinding>(
  'rbac.authorization.k8s.io',
  'ClusterRoleBinding',
  'clusterrolebindings',
  false
)
