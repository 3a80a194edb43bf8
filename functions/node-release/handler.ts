import { Type } from 'typebox'
import { tick } from '../../shared/events/knative.ts'
import { hypervisorChanged, nodeChanged } from '../../shared/events/objects.ts'
import { Duration } from '../../shared/runtime/config.ts'
import { defineFunction, on, type Received } from '../../shared/runtime/function.ts'
import { settleAll } from '../../shared/runtime/settle-all.ts'
import { look, lookAtAll, settle, type Deps } from './act.ts'
import { isOpen, manager } from './decide.ts'

const config = Type.Object({
  kubeconfig: Type.Optional(Type.String({ description: 'path of a kubeconfig; left out inside a cluster' })),
  releaseNamespace: Type.String({ default: 'kube-system', description: 'where the objects that hold a machine back are' }),
  releaseImage: Type.String({ default: 'busybox:1.37', description: 'anything with sleep, true and false; best by digest' }),
  haWait: Duration({ default: '15m', description: 'how long a machine is held back for high availability (HV-59)' }),
  observe: Type.Boolean({ default: false, description: 'say what would be done and write nothing (HV-8)' })
})

const hostOf = ({ partitionkey, data }: Received<{ name: string }>): string => partitionkey ?? data.name

async function settleOne(event: Received<{ name: string }>, deps: Deps): Promise<void> {
  const seen = await look(hostOf(event), deps)
  if (seen) await settle(seen, deps)
}

export default defineFunction({
  name: 'node-release',
  config,

  async open({ kubeconfig, releaseNamespace, releaseImage, haWait, observe }, { clock, log, onClose }): Promise<Deps> {
    const { connect } = await import('../../shared/kube/index.ts')
    const kube = await connect({ manager, log, ...(kubeconfig !== undefined && { kubeconfig }) })
    onClose(() => kube.close())
    return { kube, clock, log, observe, haWaitMs: haWait, options: { namespace: releaseNamespace, image: releaseImage } }
  },

  reactions: [
    on(nodeChanged, { key: hostOf, changed: ['created', 'labels', 'spec'] }, settleOne),
    on(hypervisorChanged, { key: hostOf, changed: ['created', 'spec', 'conditions'] }, settleOne),
    on(tick, { key: () => 'tick' }, async ({ data }, deps: Deps) => {
      const all = await lookAtAll(deps)
      await settleAll(data.tick === 'slow' ? all : all.filter(isOpen), seen => settle(seen, deps))
    })
  ]
})
