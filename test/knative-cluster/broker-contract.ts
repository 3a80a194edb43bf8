// The contract of the local broker, held against the real one: the in-memory class, which answers its sender only when all is done.
import type { Test } from 'tap'
import { contract } from '../local/broker/contract.ts'
import type { Installed, Target } from '../local/broker/contract-target.ts'
import { trigger, type Spec } from '../local/broker/manifests.ts'
import { brokerFor, clusterSink } from './broker.ts'
import type { World } from './world.ts'

export async function brokerContract(t: Test, world: World): Promise<void> {
  const { cluster } = world
  const target: Target = {
    storesFirst: false,
    sink: (t, respond) => clusterSink(t, world, respond),
    // a Broker and a namespace of its own each time: Triggers that are deleted together break the broker they leave
    async install(t: Test, spec: Spec | undefined, triggers: Record<string, Spec>): Promise<Installed> {
      const tried = Object.entries(triggers).map(([name, of]) => JSON.stringify(trigger(name, of, 'default').doc))
      await cluster.kubectl(['apply', '--dry-run=server', '-f', '-'], tried.join('\n---\n'))
      const { namespace, url } = await brokerFor(t, world, 'contract', triggers, spec)
      return { ingress: url, namespace, settled: async () => {} }
    }
  }
  contract(t, target)
}
