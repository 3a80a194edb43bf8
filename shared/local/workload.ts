// What knative/ says of a workload, as far as it has a meaning here.
import type { Env } from '../runtime/config.ts'
import type { Manifest } from './broker/index.ts'

interface Pod {
  serviceAccountName?: string
  containers: Array<{
    env?: Array<{ name: string; value?: string }>
    volumeMounts?: Array<{ name: string; mountPath: string }>
  }>
  volumes?: Array<{ name: string; configMap?: { name: string } }>
}

interface Document {
  apiVersion?: string
  kind?: string
  metadata: { name: string; namespace?: string }
  spec: {
    selector?: Record<string, string>
    template?: { spec: Pod }
  }
  webhooks?: Array<{ clientConfig: { service?: { namespace: string; name: string } } }>
}

export interface Workload {
  kind: string
  name: string
  namespace: string
  serviceAccount: string | undefined
  /** The variables with a value. Fields of a pod and keys of Secrets have no meaning here. */
  env: Env
  /** ConfigMaps, and where their files are in a pod. */
  mounts: ReadonlyArray<{ path: string; configMap: string }>
}

const documents = (manifests: readonly Manifest[]): Document[] => manifests.map(({ doc }) => doc as Document)

export function workloadOf(manifests: readonly Manifest[], kind: string, name: string): Workload | undefined {
  const found = documents(manifests).find(
    ({ kind: of, metadata, spec }) => of === kind && metadata.name === name && spec.template !== undefined
  )
  const pod = found?.spec.template?.spec
  if (!found || !pod) return undefined
  const stated = pod.containers[0]?.env ?? []
  return {
    kind,
    name,
    namespace: found.metadata.namespace ?? 'default',
    serviceAccount: pod.serviceAccountName,
    env: Object.fromEntries(stated.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]]))),
    mounts: mountsOf(pod)
  }
}

function mountsOf({ containers: [container], volumes = [] }: Pod): Workload['mounts'] {
  const maps = new Map(volumes.flatMap(({ name, configMap }) => (configMap ? [[name, configMap.name]] : [])))
  return (container?.volumeMounts ?? []).flatMap(({ name, mountPath }) => {
    const configMap = maps.get(name)
    return configMap === undefined ? [] : [{ path: mountPath, configMap }]
  })
}

/** The function behind a Service: it selects the pods of the Knative Service of that name. */
export function functionBehind(
  manifests: readonly Manifest[],
  { namespace, name }: { namespace: string; name: string }
): string | undefined {
  const service = documents(manifests).find(
    ({ apiVersion, kind, metadata }) =>
      apiVersion === 'v1' && kind === 'Service' && metadata.name === name && metadata.namespace === namespace
  )
  return service?.spec.selector?.['serving.knative.dev/service']
}

const processes = new Set(['Deployment', 'DaemonSet', 'StatefulSet', 'Job'])

/** What of knative/ the embedded API is to hold: accounts, roles, webhooks that somebody answers. Nothing that would run elsewhere. */
export function objectsOf(manifests: readonly Manifest[], running: ReadonlySet<string>): object[] {
  const answered = ({ webhooks = [] }: Document): boolean =>
    webhooks.every(({ clientConfig: { service } }) => !service || running.has(functionBehind(manifests, service) ?? ''))
  return documents(manifests).filter(document => !processes.has(document.kind ?? '') && answered(document))
}
