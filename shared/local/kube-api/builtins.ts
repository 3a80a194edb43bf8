// The built-in kinds: plain stored objects, one row each.
import { ageColumn, builtinColumns, nameColumn } from './builtin-columns.ts'
import { builtinSchema } from './builtin-schemas.ts'
import { eventConversion } from './event-conversion.ts'
import { jsonPath } from './json-path.ts'
import { apiVersionOf, type Resource } from './resource.ts'

interface Row {
  api: string
  kind: string
  plural: string
  short?: string[]
  cluster?: true
  status?: true
  /** spec is counted in metadata.generation */
  generation?: true
  inAll?: true
  fields?: string[]
  subresources?: string[]
}

const eventFields = [
  'involvedObject.kind',
  'involvedObject.namespace',
  'involvedObject.name',
  'involvedObject.uid',
  'reason',
  'type',
  'source'
]

const rows: Row[] = [
  { api: 'v1', kind: 'Namespace', plural: 'namespaces', short: ['ns'], cluster: true, status: true, fields: ['status.phase'] },
  { api: 'v1', kind: 'Node', plural: 'nodes', short: ['no'], cluster: true, status: true, fields: ['spec.unschedulable'] },
  {
    api: 'v1',
    kind: 'Pod',
    plural: 'pods',
    short: ['po'],
    status: true,
    generation: true,
    inAll: true,
    fields: [
      'spec.nodeName',
      'spec.restartPolicy',
      'spec.schedulerName',
      'spec.serviceAccountName',
      'status.phase',
      'status.podIP'
    ]
  },
  { api: 'v1', kind: 'Secret', plural: 'secrets', fields: ['type'] },
  { api: 'v1', kind: 'ConfigMap', plural: 'configmaps', short: ['cm'] },
  { api: 'v1', kind: 'Event', plural: 'events', short: ['ev'], fields: eventFields },
  { api: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts', short: ['sa'], subresources: ['token'] },
  { api: 'v1', kind: 'Service', plural: 'services', short: ['svc'], status: true, inAll: true },
  { api: 'v1', kind: 'PersistentVolumeClaim', plural: 'persistentvolumeclaims', short: ['pvc'], status: true },
  { api: 'v1', kind: 'PersistentVolume', plural: 'persistentvolumes', short: ['pv'], cluster: true, status: true },
  { api: 'apps/v1', kind: 'Deployment', plural: 'deployments', short: ['deploy'], status: true, generation: true, inAll: true },
  { api: 'apps/v1', kind: 'DaemonSet', plural: 'daemonsets', short: ['ds'], status: true, generation: true, inAll: true },
  { api: 'apps/v1', kind: 'ReplicaSet', plural: 'replicasets', short: ['rs'], status: true, generation: true, inAll: true },
  { api: 'apps/v1', kind: 'StatefulSet', plural: 'statefulsets', short: ['sts'], status: true, generation: true, inAll: true },
  {
    api: 'events.k8s.io/v1',
    kind: 'Event',
    plural: 'events',
    short: ['ev'],
    fields: ['regarding.kind', 'regarding.namespace', 'regarding.name', 'reason', 'type']
  },
  { api: 'coordination.k8s.io/v1', kind: 'Lease', plural: 'leases' },
  { api: 'storage.k8s.io/v1', kind: 'StorageClass', plural: 'storageclasses', short: ['sc'], cluster: true },
  {
    api: 'policy/v1',
    kind: 'PodDisruptionBudget',
    plural: 'poddisruptionbudgets',
    short: ['pdb'],
    status: true,
    generation: true
  },
  { api: 'networking.k8s.io/v1', kind: 'NetworkPolicy', plural: 'networkpolicies', short: ['netpol'], generation: true },
  { api: 'rbac.authorization.k8s.io/v1', kind: 'Role', plural: 'roles' },
  { api: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', plural: 'rolebindings' },
  { api: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', plural: 'clusterroles', cluster: true },
  { api: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', plural: 'clusterrolebindings', cluster: true },
  {
    api: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    plural: 'validatingwebhookconfigurations',
    cluster: true,
    generation: true
  },
  {
    api: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    plural: 'mutatingwebhookconfigurations',
    cluster: true,
    generation: true
  },
  {
    api: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    plural: 'validatingadmissionpolicies',
    cluster: true,
    status: true,
    generation: true
  },
  {
    api: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    plural: 'validatingadmissionpolicybindings',
    cluster: true,
    generation: true
  },
  {
    api: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    plural: 'certificatesigningrequests',
    short: ['csr'],
    cluster: true,
    status: true,
    fields: ['spec.signerName']
  },
  {
    api: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    short: ['crd', 'crds'],
    cluster: true,
    status: true,
    generation: true
  }
]

function resourceOf(row: Row): Resource {
  const [version = '', group = ''] = row.api.split('/').toReversed()
  const shared = row.kind === 'Event' && group !== ''
  return {
    group,
    version,
    apiVersion: apiVersionOf(group, version),
    kind: row.kind,
    listKind: `${row.kind}List`,
    plural: row.plural,
    singular: row.kind.toLowerCase(),
    shortNames: row.short ?? [],
    categories: row.inAll ? ['all'] : [],
    namespaced: !row.cluster,
    shelf: shared ? '/events' : `${group}/${row.plural}`,
    schema: builtinSchema(row.kind),
    custom: false,
    hasStatus: row.status ?? false,
    hasGeneration: row.generation ?? false,
    columns: builtinColumns[row.kind] ?? [nameColumn, ageColumn],
    selectable: Object.fromEntries((row.fields ?? []).map(field => [field, jsonPath(`.${field}`)])),
    subresources: row.subresources ?? [],
    ...(shared && { convert: eventConversion })
  }
}

export const builtins: Resource[] = rows.map(resourceOf)
