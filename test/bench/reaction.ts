// Node changed → Hypervisor written, on the real API server: the cluster agent sends straight to the function, no broker between them.
import { clusterAgent } from '../../agents/cluster/agent.ts'
import handler from '../../functions/hypervisor/handler.ts'
import { connect, Node } from '../../shared/kube/index.ts'
import { startAgent } from '../../shared/runtime/agent.ts'
import { serve } from '../../shared/runtime/serve.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { startKubernetes } from '../servers/real-kubernetes.ts'
import { asServiceAccount } from '../servers/identity.ts'
import { closing } from './lib/closing.ts'
import { unconfined } from './lib/confine.ts'
import type { Figures, Report } from './lib/figures.ts'
import { shipped } from './lib/shipped.ts'

export const figures: Figures = {
  'reaction.p50': { unit: 'ms', of: 'p50', note: 'no broker' },
  'reaction.p99': { unit: 'ms', of: 'p99', note: 'no broker' }
}

const changes = 300
const zone = 'topology.kubernetes.io/zone'

export const run = (report: Report): Promise<void> =>
  closing(async t => {
    const api = await startKubernetes()
    t.teardown(() => api.stop())
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
    const times = await measure(api.kubeconfig)
    const note = unconfined(await shipped('hypervisor.yaml'))
    for (const figure of Object.keys(figures)) report(figure, times, { note })
  })

/** Milliseconds from the moment a Node's label is sent to the one at which a watcher sees it on the Hypervisor. */
export async function measure(kubeconfig: string, wanted = changes, name = 'host'): Promise<number[]> {
  const admin = await connect({ manager: 'bench', kubeconfig })
  const stop = new AbortController()
  const times: number[] = []
  await admin.create(Node, { metadata: { name, labels: { 'nova.openstack.cloud.sap/virt-driver': 'kvm', [zone]: '0' } } })
  let sent = performance.now()
  for await (const seen of admin.watch(Hypervisor, { signal: stop.signal })) {
    if (seen.type !== 'changed' || seen.object.metadata.name !== name) continue
    if (seen.object.metadata.labels?.[zone] !== String(times.length)) continue
    times.push(performance.now() - sent)
    if (times.length > wanted) stop.abort()
    sent = performance.now()
    await admin.patch(Node, { name }, { metadata: { labels: { [zone]: String(times.length) } } })
  }
  admin.close()
  return times.slice(1) // the first opened the connections
}
