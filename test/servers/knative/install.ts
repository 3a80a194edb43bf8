// Knative Eventing and Serving with Kourier on a cluster, by the manifests of their releases.
import { join } from 'node:path'
import { eventually } from '../eventually.ts'
import { say } from '../say.ts'
import type { Cluster } from './cluster.ts'
import { knativeFolder } from './prepare.ts'

const manifest = (name: string) => join(knativeFolder, 'manifests', `${name}.yaml`)
const minutes = 60_000

export const apply = (cluster: Cluster, file: string): Promise<string> =>
  cluster.kubectl(['apply', '--server-side', '--force-conflicts', '-f', file])

/** What a webhook refuses while it is starting is asked again. */
const insist = (what: string, ask: () => Promise<unknown>): Promise<true> =>
  eventually(
    what,
    () =>
      ask().then(
        () => true as const,
        () => undefined
      ),
    5 * minutes
  )

const setting = (cluster: Cluster, namespace: string, map: string, data: Record<string, string>): Promise<true> =>
  insist(`${map} to take ${JSON.stringify(data)}`, () =>
    cluster.kubectl(['patch', 'configmap', map, '-n', namespace, '--type', 'merge', '-p', JSON.stringify({ data })])
  )

export const available = (cluster: Cluster, namespace: string): Promise<string> =>
  cluster.kubectl(['wait', '--for=condition=Available', '--timeout=600s', '-n', namespace, 'deployment', '--all'])

const probes = {
  broker: { apiVersion: 'eventing.knative.dev/v1', kind: 'Broker', metadata: { name: 'probe', namespace: 'default' } },
  service: {
    apiVersion: 'serving.knative.dev/v1',
    kind: 'Service',
    metadata: { name: 'probe', namespace: 'default' },
    spec: { template: { spec: { containers: [{ image: 'dev.local/probe:1' }] } } }
  }
}

export async function installKnative(cluster: Cluster): Promise<void> {
  const started = Date.now()
  for (const crds of ['eventing-crds', 'serving-crds']) await apply(cluster, manifest(crds))
  await cluster.kubectl(['wait', '--for=condition=Established', '--timeout=120s', 'crd', '-l', 'knative.dev/crd-install=true'])
  for (const part of ['eventing', 'serving', 'kourier']) await apply(cluster, manifest(part))
  await setting(cluster, 'knative-serving', 'config-network', { 'ingress-class': 'kourier.ingress.networking.knative.dev' })
  // there is no registry to ask for a digest: the images are on the node
  await setting(cluster, 'knative-serving', 'config-deployment', {
    'registries-skipping-tag-resolving': 'dev.local,ghcr.io',
    'queue-sidecar-cpu-request': '5m' // twenty of them on two cores
  })
  // from a minute and a half to half a minute, since a test waits for it; more than the ten seconds between two ticks
  await setting(cluster, 'knative-serving', 'config-autoscaler', { 'stable-window': '24s', 'scale-to-zero-grace-period': '6s' })
  for (const namespace of ['knative-eventing', 'knative-serving', 'kourier-system']) await available(cluster, namespace)
  // deployments are available a moment before their webhooks have a certificate
  for (const probe of Object.values(probes))
    await insist(`a ${probe.kind} to be admitted`, () =>
      cluster.kubectl(['create', '--dry-run=server', '-f', '-'], JSON.stringify(probe))
    )
  say(`Knative is ready after ${Math.round((Date.now() - started) / 1000)} s`)
}
