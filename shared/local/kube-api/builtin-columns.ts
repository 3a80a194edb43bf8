// The columns that `kubectl get` shows for built-in kinds: names, kinds and order are the real server's.
import { age } from './duration.ts'
import { at, fieldsOf, isFields, listOf, shown, type Fields, type KubeObject } from './object.ts'
import type { Column } from './resource.ts'
import { jsonPath } from './json-path.ts'

type Cell = string | ((object: KubeObject, now: Date) => unknown)

const none = '<none>'

function column(name: string, cell: Cell, type = 'string', priority = 0): Column {
  const read = typeof cell === 'function' ? cell : jsonPath(cell)
  return { name, type, priority, cell: (object, now) => read(object, now) ?? none }
}
const wide = (name: string, cell: Cell): Column => column(name, cell, 'string', 1)
const count = (name: string, cell: Cell): Column =>
  column(name, object => (typeof cell === 'string' ? jsonPath(cell)(object) : cell(object, new Date())) ?? 0, 'integer')

export const nameColumn: Column = { name: 'Name', type: 'string', format: 'name', cell: object => object.metadata.name }
export const ageColumn = column('Age', (object, now) => age(object.metadata.creationTimestamp, now))
const created = column('Created At', '.metadata.creationTimestamp', 'date')

const size = (value: unknown): number => Object.keys(fieldsOf(value)).length
const joined = (values: unknown[]): string => values.join(',') || none
const pairs = (value: unknown): string => joined(Object.entries(fieldsOf(value)).map(([key, each]) => `${key}=${String(each)}`))

function nodeStatus(node: KubeObject): string {
  const ready = listOf(at(node, 'status', 'conditions')).find(condition => at(condition, 'type') === 'Ready')
  const words = [at(ready, 'status') === 'True' ? 'Ready' : ready ? 'NotReady' : 'Unknown']
  if (at(node, 'spec', 'unschedulable') === true) words.push('SchedulingDisabled')
  return words.join(',')
}

function nodeRoles({ metadata: { labels = {} } }: KubeObject): string {
  const prefix = 'node-role.kubernetes.io/'
  return joined(
    Object.keys(labels)
      .filter(label => label.startsWith(prefix))
      .map(label => label.slice(prefix.length))
      .sort()
  )
}

const address = (type: string) => (node: KubeObject) =>
  at(
    listOf(at(node, 'status', 'addresses')).find(each => at(each, 'type') === type),
    'address'
  )

const statuses = (pod: KubeObject): Fields[] => listOf(at(pod, 'status', 'containerStatuses')).filter(isFields)

function podStatus(pod: KubeObject): unknown {
  if (pod.metadata.deletionTimestamp) return 'Terminating'
  const waiting = statuses(pod).map(
    status => at(status, 'state', 'waiting', 'reason') ?? at(status, 'state', 'terminated', 'reason')
  )
  return waiting.find(reason => reason !== undefined) ?? at(pod, 'status', 'reason') ?? at(pod, 'status', 'phase') ?? ''
}

const readyContainers = (pod: KubeObject): string =>
  `${statuses(pod).filter(status => status.ready === true).length}/${listOf(at(pod, 'spec', 'containers')).length}`

const restarts = (pod: KubeObject): string =>
  String(statuses(pod).reduce((sum, status) => sum + Number(status.restartCount ?? 0), 0))

const templates = (object: KubeObject): Fields[] => listOf(at(object, 'spec', 'template', 'spec', 'containers')).filter(isFields)
const workloadDetails = [
  wide('Containers', object => joined(templates(object).map(each => each.name))),
  wide('Images', object => joined(templates(object).map(each => each.image))),
  wide('Selector', object => pairs(at(object, 'spec', 'selector', 'matchLabels')))
]

const subjects = (kind: string) => (object: KubeObject) =>
  listOf(object.subjects)
    .filter(subject => at(subject, 'kind') === kind)
    .map(subject =>
      kind === 'ServiceAccount' ? `${String(at(subject, 'namespace'))}/${String(at(subject, 'name'))}` : at(subject, 'name')
    )
    .join(', ')

const binding = [
  nameColumn,
  column('Role', object => `${String(at(object, 'roleRef', 'kind'))}/${String(at(object, 'roleRef', 'name'))}`),
  ageColumn,
  wide('Users', subjects('User')),
  wide('Groups', subjects('Group')),
  wide('ServiceAccounts', subjects('ServiceAccount'))
]

const lastSeen = (event: KubeObject): unknown =>
  event.lastTimestamp ?? event.deprecatedLastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp
const involved = (event: KubeObject): string => {
  const { kind = '', name = '' } = fieldsOf(event.involvedObject ?? event.regarding)
  return `${String(kind).toLowerCase()}/${String(name)}`
}

const source = (event: KubeObject): unknown =>
  at(event.source ?? event.deprecatedSource, 'component') ?? event.reportingComponent ?? event.reportingController ?? ''

export const builtinColumns: Record<string, Column[]> = {
  Namespace: [nameColumn, column('Status', '.status.phase'), ageColumn],
  Node: [
    nameColumn,
    column('Status', nodeStatus),
    column('Roles', nodeRoles),
    ageColumn,
    column('Version', '.status.nodeInfo.kubeletVersion'),
    wide('Internal-IP', address('InternalIP')),
    wide('External-IP', address('ExternalIP')),
    wide('OS-Image', object => at(object, 'status', 'nodeInfo', 'osImage') ?? '<unknown>'),
    wide('Kernel-Version', object => at(object, 'status', 'nodeInfo', 'kernelVersion') ?? '<unknown>'),
    wide('Container-Runtime', object => at(object, 'status', 'nodeInfo', 'containerRuntimeVersion') ?? '<unknown>')
  ],
  Pod: [
    nameColumn,
    column('Ready', readyContainers),
    column('Status', podStatus),
    column('Restarts', restarts),
    ageColumn,
    wide('IP', '.status.podIP'),
    wide('Node', '.spec.nodeName'),
    wide('Nominated Node', '.status.nominatedNodeName'),
    wide('Readiness Gates', () => none)
  ],
  ConfigMap: [nameColumn, column('Data', object => size(object.data) + size(object.binaryData)), ageColumn],
  Secret: [nameColumn, column('Type', '.type'), column('Data', object => size(object.data)), ageColumn],
  Event: [
    column('Last Seen', (event, now) => age(lastSeen(event), now)),
    column('Type', '.type'),
    column('Reason', '.reason'),
    column('Object', involved),
    wide('Subobject', event => at(event.involvedObject ?? event.regarding, 'fieldPath') ?? ''),
    wide('Source', source),
    column('Message', event => event.message ?? event.note ?? ''),
    wide('First Seen', (event, now) => age(event.firstTimestamp ?? event.deprecatedFirstTimestamp ?? event.eventTime, now)),
    wide('Count', event => event.count ?? event.deprecatedCount ?? 1),
    { ...nameColumn, priority: 1 }
  ],
  Service: [
    nameColumn,
    column('Type', object => at(object, 'spec', 'type') ?? 'ClusterIP'),
    column('Cluster-IP', '.spec.clusterIP'),
    column('External-IP', '.spec.externalName'),
    column('Port(s)', object =>
      joined(
        listOf(at(object, 'spec', 'ports')).map(each => `${String(at(each, 'port'))}/${shown(at(each, 'protocol') ?? 'TCP')}`)
      )
    ),
    ageColumn,
    wide('Selector', object => pairs(at(object, 'spec', 'selector')))
  ],
  PersistentVolumeClaim: [
    nameColumn,
    column('Status', '.status.phase'),
    column('Volume', object => at(object, 'spec', 'volumeName') ?? ''),
    column('Capacity', object => at(object, 'status', 'capacity', 'storage') ?? ''),
    column('Access Modes', object => listOf(at(object, 'status', 'accessModes')).join(',')),
    column('StorageClass', object => at(object, 'spec', 'storageClassName') ?? ''),
    column('VolumeAttributesClass', object => at(object, 'spec', 'volumeAttributesClassName') ?? '<unset>'),
    ageColumn,
    wide('VolumeMode', '.spec.volumeMode')
  ],
  Deployment: [
    nameColumn,
    column(
      'Ready',
      object => `${Number(at(object, 'status', 'readyReplicas') ?? 0)}/${Number(at(object, 'spec', 'replicas') ?? 1)}`
    ),
    column('Up-to-date', object => shown(at(object, 'status', 'updatedReplicas') ?? 0)),
    column('Available', object => shown(at(object, 'status', 'availableReplicas') ?? 0)),
    ageColumn,
    ...workloadDetails
  ],
  DaemonSet: [
    nameColumn,
    count('Desired', '.status.desiredNumberScheduled'),
    count('Current', '.status.currentNumberScheduled'),
    count('Ready', '.status.numberReady'),
    count('Up-to-date', '.status.updatedNumberScheduled'),
    count('Available', '.status.numberAvailable'),
    column('Node Selector', object => pairs(at(object, 'spec', 'template', 'spec', 'nodeSelector'))),
    ageColumn,
    ...workloadDetails
  ],
  Lease: [nameColumn, column('Holder', object => at(object, 'spec', 'holderIdentity') ?? ''), ageColumn],
  StorageClass: [
    nameColumn,
    column('Provisioner', '.provisioner'),
    column('ReclaimPolicy', object => object.reclaimPolicy ?? 'Delete'),
    column('VolumeBindingMode', object => object.volumeBindingMode ?? 'Immediate'),
    column('AllowVolumeExpansion', object => object.allowVolumeExpansion ?? false),
    ageColumn
  ],
  PodDisruptionBudget: [
    nameColumn,
    column('Min Available', object => at(object, 'spec', 'minAvailable') ?? 'N/A'),
    column('Max Unavailable', object => at(object, 'spec', 'maxUnavailable') ?? 'N/A'),
    count('Allowed Disruptions', '.status.disruptionsAllowed'),
    ageColumn
  ],
  NetworkPolicy: [
    nameColumn,
    column('Pod-Selector', object => pairs(at(object, 'spec', 'podSelector', 'matchLabels'))),
    ageColumn
  ],
  Role: [nameColumn, created],
  ClusterRole: [nameColumn, created],
  RoleBinding: binding,
  ClusterRoleBinding: binding,
  ValidatingWebhookConfiguration: [nameColumn, count('Webhooks', object => listOf(object.webhooks).length), ageColumn],
  CustomResourceDefinition: [nameColumn, created]
}
