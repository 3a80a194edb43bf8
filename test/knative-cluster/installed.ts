// What `kubectl apply -k` made: all of it ready, each pod under `restricted`, and admission by the reference to a Service.
import type { Test } from 'tap'
import { eventually } from '../servers/eventually.ts'
import { request } from '../servers/request.ts'
import { allReady, listed, patience, type Pod, type World } from './world.ts'

const in_ = (api: string, namespace: string, plural: string): string => `/apis/${api}/namespaces/${namespace}/${plural}`

/** Where something is told the broker's address. */
export const bound = ['drover', 'drover-agents', 'ovn-system', 'kubevirt-operator-system']

export async function everyServiceReady({ cluster }: World): Promise<{ services: number; triggers: number }> {
  const services = await allReady(cluster, in_('serving.knative.dev/v1', 'drover', 'services'), 2 * patience)
  await allReady(cluster, in_('serving.knative.dev/v1', 'kubevirt-operator-system', 'services'), patience)
  const triggers = await allReady(cluster, in_('eventing.knative.dev/v1', 'drover', 'triggers'), 2 * patience)
  await allReady(cluster, in_('eventing.knative.dev/v1', 'drover', 'brokers'))
  await allReady(cluster, in_('sources.knative.dev/v1', 'drover', 'pingsources'))
  for (const namespace of bound) await allReady(cluster, in_('sources.knative.dev/v1', namespace, 'sinkbindings'))
  await cluster.kubectl(['wait', '--for=condition=Available', '--timeout=300s', '-n', 'drover', 'deployment/cluster-agent'])
  return { services: services.length, triggers: triggers.length }
}

export async function everythingReady(t: Test, world: World): Promise<void> {
  const { cluster } = world
  const { services, triggers } = await everyServiceReady(world)
  t.comment(`${services} functions, ${triggers} Triggers`)
  const agents = await listed<Pod>(cluster, '/api/v1/namespaces/drover/pods?labelSelector=app%3Dcluster-agent')
  t.equal(agents.length, 2, 'two replicas of the cluster agent')
}

/** The API server itself says which pods a level would refuse. */
export async function restricted(t: Test, { cluster }: World): Promise<void> {
  const patch = { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } } }
  const { status, headers } = await request(cluster, 'PATCH', '/api/v1/namespaces/drover?dryRun=All', patch, {
    'content-type': 'application/merge-patch+json'
  })
  t.equal(status, 200)
  t.equal(headers['warning'] ?? '', '', 'no pod of the namespace would be refused')
}

const machine = (name: string, template: string) => ({
  apiVersion: 'vitistack.io/v1alpha1',
  kind: 'Machine',
  metadata: { name },
  spec: { template }
})

export async function admission(t: Test, { cluster }: World): Promise<void> {
  const machines = '/apis/vitistack.io/v1alpha1/namespaces/default/machines?dryRun=All'
  const [good, bad] = [machine('good', 'small'), machine('bad', 'huge')]
  type Refusal = { message: string; details?: { causes?: Array<{ message: string }> } }
  const admitted = await eventually(
    'a good Machine to be admitted',
    async () => {
      const answer = await request<Refusal>(cluster, 'POST', machines, good)
      return answer.status === 201 && answer
    },
    patience
  )
  t.equal(admitted.status, 201)
  const refused = await request<Refusal>(cluster, 'POST', machines, bad)
  t.ok(refused.status >= 400, JSON.stringify(refused.body).slice(0, 300))
  t.match(refused.body.message, /machines\.admission\.drover\.dev/, 'refused by the function, through its Service')
}
