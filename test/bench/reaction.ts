// Node changed → Hypervisor written, on the real API server: the cluster agent sends straight to the function, no broker between them.
import type { Test } from 'tap'
import { clusterAgent } from '../../agents/cluster/agent.ts'
import handler from '../../functions/hypervisor/handler.ts'
import { connect, Node } from '../../shared/kube/index.ts'
import { startAgent } from '../../shared/runtime/agent.ts'
import { serve } from '../../shared/runtime/serve.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { startKubernetes } from '../servers/real-kubernetes.ts'
import { asServiceAccount } from '../servers/identity.ts'
import type { Report } from './report.ts'

export const name = 'reaction'

const changes = 300
const zone = 'topology.kubernetes.io/zone'

export async function run(report: Report): Promise<void> {
  const closers: Array<() => unknown> = []
  const t = { teardown: (close: () => unknown) => void closers.push(close) } as unknown as Test
  const api = await startKubernetes()
  t.teardown(() => api.stop())
  try {
    const env = { LOG_LEVEL: 'silent', PORT: '0', HOST: '127.0.0.1' }
    const fn = await serve(handler, {
      env: { ...env, KUBECONFIG: await asServiceAccount(t, api, 'hypervisor.yaml', 'hypervisor') }
    })
    t.teardown(() => fn.close())
    const kubeconfig = await asServiceAccount(t, api, 'cluster-agent.yaml', 'cluster-agent')
    const agent = await startAgent(clusterAgent, {
      env: { ...env, KUBECONFIG: kubeconfig, K_SINK: fn.url, WATCH_MACHINES: 'false' }
    })
    t.teardown(() => agent.close())
    const times = (await measure(api.kubeconfig)).toSorted((a, b) => a - b)
    report({ name: 'reaction.p50', ours: times[Math.floor(changes * 0.5)] as number, unit: 'ms' })
    report({ name: 'reaction.p99', ours: times[Math.floor(changes * 0.99)] as number, unit: 'ms' })
  } finally {
    for (const close of closers.toReversed()) await close()
  }
}

/** Milliseconds from the moment a Node's label is sent to the one at which a watcher sees it on the Hypervisor. */
export async function measure(kubeconfig: string, wanted = changes): Promise<number[]> {
  const admin = await connect({ manager: 'bench', kubeconfig })
  const stop = new AbortController()
  const times: number[] = []
  await admin.create(Node, { metadata: { name: 'host', labels: { 'nova.openstack.cloud.sap/virt-driver': 'kvm', [zone]: '0' } } })
  let sent = performance.now()
  for await (const seen of admin.watch(Hypervisor, { signal: stop.signal })) {
    if (seen.type !== 'changed' || seen.object.metadata.labels?.[zone] !== String(times.length)) continue
    times.push(performance.now() - sent)
    if (times.length > wanted) stop.abort()
    sent = performance.now()
    await admin.patch(Node, { name: 'host' }, { metadata: { labels: { [zone]: String(times.length) } } })
  }
  admin.close()
  return times.slice(1) // the first opened the connections
}
