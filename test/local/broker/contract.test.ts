// The contract, held against the local broker. Its documented difference towards the sender is storesFirst.
import t, { type Test } from 'tap'
import { startBroker } from '../../../shared/local/broker/index.ts'
import { contract } from './contract.ts'
import type { Installed, Target } from './contract-target.ts'
import { broker, trigger, type Spec } from './manifests.ts'
import { httpSink } from './sinks.ts'

const local: Target = {
  storesFirst: true,
  sink: httpSink,
  async install(t: Test, spec: Spec | undefined, triggers: Record<string, Spec>): Promise<Installed> {
    const manifests = [broker('b', spec), ...Object.entries(triggers).map(([name, of]) => trigger(name, of))]
    const running = await startBroker({ manifests, resolve: () => undefined })
    t.teardown(() => running.close())
    return { ingress: running.ingress('test', 'b'), namespace: 'test', settled: running.idle }
  }
}

contract(t, local)
