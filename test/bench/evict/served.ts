// The function as it is served, on the embedded Kubernetes API, with one Hypervisor to empty.
import type { Test } from 'tap'
import handler from '../../../functions/evict/handler.ts'
import { serve } from '../../../shared/runtime/serve.ts'
import { Eviction } from '../../../shared/schema/eviction.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { environmentOf } from '../../functions/host-life/life.ts'
import type { OpenStack } from '../../servers/openstack.ts'
import { embeddedApi } from '../lib/embedded-api.ts'

export interface Served {
  post: (type: string, data: object) => Promise<void>
  /** the order to empty the host; answered when the first pass is over */
  evict: () => Promise<void>
}

export async function served(
  t: Pick<Test, 'teardown'>,
  options: OpenStack['options'],
  serviceId: string,
  { maxParallel, env = {} }: { maxParallel: number; env?: Record<string, string> }
): Promise<Served> {
  const { kubeconfig, admin } = await embeddedApi(t)
  const own = { KUBECONFIG: kubeconfig, K_SINK: 'http://127.0.0.1:9', LOG_LEVEL: 'silent', PORT: '0', HOST: '127.0.0.1' }
  const fn = await serve(handler, { env: { ...environmentOf({ options }), ...own, ...env } })
  t.teardown(() => fn.close())
  await admin.create(Hypervisor, { metadata: { name: 'hv1' } })
  await admin.applyStatus(Hypervisor, { metadata: { name: 'hv1' }, status: { serviceId, nova: { host: 'hv1' } } })
  let number = 0
  const post = async (type: string, data: object): Promise<void> => {
    const headers = {
      'content-type': 'application/json',
      'ce-specversion': '1.0',
      'ce-id': String((number += 1)),
      'ce-source': '/bench',
      'ce-type': type
    }
    await (await fetch(fn.url, { method: 'POST', headers, body: JSON.stringify(data) })).arrayBuffer()
  }
  return {
    post,
    async evict() {
      await admin.create(Eviction, { metadata: { name: 'hv1' }, spec: { hypervisor: 'hv1', reason: 'bench', maxParallel } })
      await post('sap.cloud.kvm.eviction.changed.v1', { apiVersion: 'kvm.cloud.sap/v1', kind: 'Eviction', name: 'hv1' })
    }
  }
}
