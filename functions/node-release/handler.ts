import { Type } from 'typebox'
import { tick } from '../../shared/events/knative.ts'
import { hypervisorChanged, nodeChanged } from '../../shared/events/objects.ts'
import { Duration } from '../../shared/runtime/config.ts'
import { defineFunction, on, type Received } from '../../shared/runtime/function.ts'
import { settleAll } from '../../shared/runtime/settle-all.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { glanceAtAll, look, lookAtAll, settle, type Deps } from './act.ts'
import { isOpen, manager } from './decide.ts'

const config = Type.Object({
  kubeconfig: Type.Optional(Type.String({ description: 'path of a kubeconfig; left out inside a cluster' })),
  releaseNamespace: Type.String({ default: 'kube-system', description: 'where the objects that hold a machine back are' }),
  releaseImage: Type.String({ default: 'busybox:1.37', description: 'anything with sleep, true and false; best by digest' }),
  haWait: Duration({ default: '15m', description: 'how long a machine is held back for high availability (HV-59)' }),
  observe: Type.Boolean({ default: false, description: 'say what would be done and write nothing (HV-8)' })
})

const hostOf = ({ partitionkey, data }: Received<{ name: string }>): string => partitionkey ?? data.name

async function settleNow(host: string, deps: Deps): Promise<void> {
  const seen = await look(host, deps)
  if (seen) await settle(seen, deps)
}

const settleOne = (event: Received<{ name: string }>, deps: Deps): Promise<void> => settleNow(hostOf(event), deps)

export default defineFunction({
  name: 'node-release',
  config,

  async open({ kubeconfig, releaseNamespace, releaseImage, haWait, observe }, { clock, log, onClose, signal }): Promise<Deps> {
    const [{ connect, Node }, { keepList }, { hostOutline, nodeOutline }] = await Promise.all([
      import('../../shared/kube/index.ts'),
      import('../../shared/kube/kept-list.ts'),
      import('../../shared/kube/outline.ts')
    ])
    const kube = await connect({ manager, log, ...(kubeconfig !== undefined && { kubeconfig }) })
    onClose(() => kube.close())
    const kept = {
      nodes: keepList(kube, Node, { signal, log, trim: nodeOutline }),
      hosts: keepList(kube, Hypervisor, { signal, log, trim: hostOutline })
    }
    return { kube, kept, clock, log, observe, haWaitMs: haWait, options: { namespace: releaseNamespace, image: releaseImage } }
  },

  reactions: [
    on(nodeChanged, { key: hostOf, changed: ['created', 'labels', 'spec'] }, settleOne),
    on(hypervisorChanged, { key: hostOf, changed: ['created', 'spec', 'conditions'] }, settleOne),
    on(tick, { key: () => 'tick' }, async ({ data }, deps: Deps) => {
      if (data.tick === 'slow') return settleAll(await lookAtAll(deps), seen => settle(seen, deps))
      const open = (await glanceAtAll(deps)).filter(isOpen)
      return settleAll(open, ({ hypervisor }) => settleNow(hypervisor.metadata.name, deps))
    })
  ]
})
