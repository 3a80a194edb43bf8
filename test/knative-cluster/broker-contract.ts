// The contract of the local broker, held against the real one: the in-memory class, which answers its sender only when all is done.
import type { Test } from 'tap'
import { contract } from '../local/broker/contract.ts'
import type { Installed, Target } from '../local/broker/contract-target.ts'
import { broker, trigger, type Spec } from '../local/broker/manifests.ts'
import { httpSink } from '../local/broker/sinks.ts'
import { allReady, freshNamespace, type World } from './world.ts'

export async function brokerContract(t: Test, world: World): Promise<void> {
  const { cluster, ingress } = world
  let brokers = 0
  const target: Target = {
    storesFirst: false,
    sink: (t, respond) => httpSink(t, respond, cluster.host),
    // a Broker and a namespace of its own each time: Triggers that are deleted together break the broker they leave
    async install(_: Test, spec: Spec | undefined, triggers: Record<string, Spec>): Promise<Installed> {
      const namespace = await freshNamespace(world, `contract-${(brokers += 1)}`)
      const made = Object.entries(triggers).map(([name, of]) => trigger(name, of, namespace).doc)
      const text = (docs: unknown[]) => docs.map(doc => JSON.stringify(doc)).join('\n---\n')
      await cluster.kubectl(['apply', '--dry-run=server', '-f', '-'], text(made))
      await cluster.kubectl(['apply', '-f', '-'], text([broker('b', spec, namespace).doc, ...made]))
      await allReady(cluster, `/apis/eventing.knative.dev/v1/namespaces/${namespace}/brokers`)
      await allReady(cluster, `/apis/eventing.knative.dev/v1/namespaces/${namespace}/triggers`)
      return { ingress: `${ingress}/${namespace}/b`, namespace, settled: async () => {} }
    }
  }
  contract(t, target)
}
