// What a cluster has before anybody has made anything: namespaces, and the roles that let users look around.
import { randomUUID } from 'node:crypto'
import type { Cluster } from './cluster.ts'
import { timestamp, type Fields } from './object.ts'

const rbac = 'rbac.authorization.k8s.io'
const discovery = [
  '/api',
  '/api/*',
  '/apis',
  '/apis/*',
  '/healthz',
  '/livez',
  '/openapi',
  '/openapi/*',
  '/readyz',
  '/version',
  '/version/'
]
const publicInfo = ['/healthz', '/livez', '/readyz', '/version', '/version/']

const roles: Record<string, Fields[]> = {
  'cluster-admin': [
    { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
    { nonResourceURLs: ['*'], verbs: ['*'] }
  ],
  'system:discovery': [{ nonResourceURLs: discovery, verbs: ['get'] }],
  'system:public-info-viewer': [{ nonResourceURLs: publicInfo, verbs: ['get'] }],
  'system:basic-user': [
    {
      apiGroups: ['authorization.k8s.io'],
      resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
      verbs: ['create']
    },
    { apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'], verbs: ['create'] }
  ],
  'system:auth-delegator': [
    { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
    { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] }
  ]
}

const groups: Record<string, string[]> = {
  'cluster-admin': ['system:masters'],
  'system:discovery': ['system:authenticated'],
  'system:public-info-viewer': ['system:authenticated', 'system:unauthenticated'],
  'system:basic-user': ['system:authenticated']
}

export function bootstrap({ store, clock }: Cluster): void {
  const metadata = (name: string): { name: string; uid: string; creationTimestamp: string } => ({
    name,
    uid: randomUUID(),
    creationTimestamp: timestamp(clock())
  })
  const make = (shelf: string, name: string, object: { apiVersion: string; kind: string } & Fields): void => {
    if (!store.get(shelf, '', name))
      store.put(shelf, { ...object, metadata: { ...metadata(name), ...(object.metadata as object) } })
  }
  for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease'])
    make('/namespaces', name, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { labels: { 'kubernetes.io/metadata.name': name } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' }
    })
  for (const [name, rules] of Object.entries(roles))
    make(`${rbac}/clusterroles`, name, { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', rules })
  for (const [name, members] of Object.entries(groups))
    make(`${rbac}/clusterrolebindings`, name, {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      subjects: members.map(member => ({ kind: 'Group', apiGroup: rbac, name: member })),
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name }
    })
}
