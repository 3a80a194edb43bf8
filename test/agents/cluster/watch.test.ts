// What the agent tells of an object that vanished while nobody watched: as much as it would have, had it seen the end.
import t from 'tap'
import { nodes, pods, type Watched } from '../../../agents/cluster/kinds.ts'
import { toEvent, type Message } from '../../../agents/cluster/to-event.ts'
import { watch } from '../../../agents/cluster/watch.ts'
import type { Kube } from '../../../shared/kube/index.ts'
import type { KubeObject } from '../../../shared/schema/kind.ts'
import { matchWhole } from '../../assert/match-whole.ts'

const hosts = nodes.find(({ kind }) => kind.kind === 'Hypervisor') as Watched
const evictions = nodes.find(({ kind }) => kind.kind === 'Eviction') as Watched

/** All that is told when the object is there, and then is missing in the next listing. */
async function vanishing(watched: Watched, object: KubeObject): Promise<Message[]> {
  const stop = new AbortController()
  const kube = {
    async *watch() {
      yield { type: 'snapshot', items: [object] }
      yield { type: 'snapshot', items: [] }
      stop.abort()
    }
  } as unknown as Kube
  const facts = await Array.fromAsync(watch(kube, watched, { signal: stop.signal, pause: async () => undefined }))
  return facts.map(toEvent)
}

t.test('HV-26: a host keeps the servers that were last known on it', async t => {
  const status = { numInstances: 2, instances: [{ id: 'a' }, { id: 'b' }] }
  const [, gone] = await vanishing(hosts, { metadata: { name: 'h', uid: 'u' }, status } as KubeObject)
  matchWhole(t, gone, {
    type: 'sap.cloud.kvm.hypervisor.deleted.v1',
    id: 'u/deleted',
    data: { name: 'h', last: { numInstances: 2, instances: ['a', 'b'] } }
  })
})

t.test('a pod and an Eviction are still told under their host', async t => {
  const pod = { metadata: { name: 'p', namespace: 'monsoon3', uid: 'u' }, spec: { nodeName: 'h' } } as KubeObject
  const eviction = { metadata: { name: 'e', uid: 'u' }, spec: { hypervisor: 'h' } } as KubeObject
  for (const [watched, object] of [
    [pods, pod],
    [evictions, eviction]
  ] as const) {
    const told = await vanishing(watched, object)
    t.strictSame(
      told.map(({ partitionkey }) => partitionkey),
      ['h', 'h'],
      watched.kind.kind
    )
  }
})
