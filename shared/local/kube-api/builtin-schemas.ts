// What server-side apply and strategic patches must know of the built-in kinds: which maps and lists are merged, and by which key.
// Only such fields are listed (x-kubernetes-list-type, -map-keys of the real server's OpenAPI); any other field is a plain one.
import { struct, type Schema } from './schema.ts'

const text: Schema = { type: 'string' }
const strings: Schema = { type: 'object', additionalProperties: text }
const listMap = (keys: string | string[], item: Schema = struct()): Schema => ({
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': [keys].flat(),
  items: item
})
const set: Schema = { type: 'array', 'x-kubernetes-list-type': 'set', items: text }
const atomicMap: Schema = { open: true, 'x-kubernetes-map-type': 'atomic' }

export const objectMeta = struct({
  name: text,
  namespace: text,
  labels: strings,
  annotations: strings,
  finalizers: set,
  ownerReferences: listMap('uid', { ...atomicMap, properties: {} })
})

const conditions = listMap('type')

const port = (key: string): Schema => struct({ [key]: { type: 'integer' }, protocol: { type: 'string', default: 'TCP' } })

const container = struct({
  env: listMap(
    'name',
    struct({ valueFrom: struct({ fieldRef: atomicMap, secretKeyRef: atomicMap, configMapKeyRef: atomicMap }) })
  ),
  ports: listMap(['containerPort', 'protocol'], port('containerPort')),
  volumeMounts: listMap('mountPath'),
  volumeDevices: listMap('devicePath'),
  resources: struct({ limits: strings, requests: strings, claims: listMap('name') })
})
const containers = listMap('name', container)

const podSpec = struct({
  containers,
  initContainers: containers,
  ephemeralContainers: containers,
  volumes: listMap('name'),
  imagePullSecrets: listMap('name'),
  hostAliases: listMap('ip'),
  topologySpreadConstraints: listMap(['topologyKey', 'whenUnsatisfiable']),
  nodeSelector: { ...strings, 'x-kubernetes-map-type': 'atomic' }
})

const workload = struct({
  selector: atomicMap,
  template: struct({ metadata: objectMeta, spec: podSpec })
})

/** By kind: the fields of the object beside apiVersion, kind and metadata. */
export const builtinFields: Record<string, Record<string, Schema>> = {
  Namespace: { spec: struct(), status: struct({ conditions }) },
  Node: {
    spec: struct({ podCIDRs: set }),
    status: struct({ conditions, addresses: listMap('type'), capacity: strings, allocatable: strings })
  },
  Pod: { spec: podSpec, status: struct({ conditions, podIPs: listMap('ip'), hostIPs: listMap('ip') }) },
  Secret: { data: strings, stringData: strings },
  ConfigMap: { data: strings, binaryData: strings },
  ServiceAccount: { secrets: listMap('name'), imagePullSecrets: { type: 'array', 'x-kubernetes-list-type': 'atomic' } },
  Service: {
    spec: struct({
      ports: listMap(['port', 'protocol'], port('port')),
      selector: { ...strings, 'x-kubernetes-map-type': 'atomic' }
    }),
    status: struct({ conditions })
  },
  PersistentVolumeClaim: {
    spec: struct({ selector: atomicMap, dataSource: atomicMap, resources: struct({ limits: strings, requests: strings }) }),
    status: struct({ conditions, capacity: strings })
  },
  PersistentVolume: { spec: struct({ capacity: strings, claimRef: struct() }) },
  Deployment: { spec: workload, status: struct({ conditions }) },
  DaemonSet: { spec: workload, status: struct({ conditions }) },
  ReplicaSet: { spec: workload, status: struct({ conditions }) },
  StatefulSet: { spec: workload, status: struct({ conditions }) },
  PodDisruptionBudget: { spec: struct({ selector: atomicMap }), status: struct({ conditions, disruptedPods: strings }) },
  NetworkPolicy: { spec: struct({ podSelector: atomicMap }) },
  StorageClass: { parameters: strings },
  CustomResourceDefinition: { status: struct({ conditions }) },
  ValidatingWebhookConfiguration: { webhooks: listMap('name', struct({ matchConditions: listMap('name') })) },
  MutatingWebhookConfiguration: { webhooks: listMap('name', struct({ matchConditions: listMap('name') })) },
  ValidatingAdmissionPolicy: {
    spec: struct({
      matchConstraints: atomicMap,
      matchConditions: listMap('name'),
      variables: listMap('name'),
      paramKind: atomicMap
    })
  },
  ValidatingAdmissionPolicyBinding: { spec: struct({ matchResources: atomicMap }) }
}

export const builtinSchema = (kind: string): Schema => ({
  ...struct({ apiVersion: text, kind: text, metadata: objectMeta, ...builtinFields[kind] }),
  type: 'object'
})
