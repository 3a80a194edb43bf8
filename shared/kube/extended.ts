import type { Registry } from 'prom-client'
import type { Kind, KubeObject } from '../schema/kind.ts'
import type { Kube } from './connect.ts'
import type { Log } from './transport.ts'

interface Crd extends KubeObject {
  spec: { versions: Array<{ schema: { openAPIV3Schema: { properties: { status: { properties: Record<string, unknown> } } } } }> }
}
const crds: Kind<Crd> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false
}

/** HV-4: an older CRD refuses fields that it does not know, so that only the compatible ones may be written. */
export async function isExtended(
  kube: Kube,
  log: Log,
  metrics?: Registry,
  name: 'hypervisors.kvm.cloud.sap' | 'evictions.kvm.cloud.sap' = 'hypervisors.kvm.cloud.sap'
): Promise<boolean> {
  const crd = await kube.find(crds, name)
  if (!crd) throw new Error(`the CRD ${name} is not installed: kubectl apply -k crds/`)
  const extended = crd.spec.versions.some(({ schema }) => 'phase' in schema.openAPIV3Schema.properties.status.properties)
  if (metrics) (await import('./metrics.ts')).extendedMetric(metrics, extended)
  if (!extended)
    log.warn({ crd: name }, 'the installed CRD lacks the fields that Drover adds: phase, history and drift are not shown')
  return extended
}
