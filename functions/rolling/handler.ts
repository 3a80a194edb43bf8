import { Type } from 'typebox'
import { tick } from '../../shared/events/knative.ts'
import { defineFunction, on } from '../../shared/runtime/function.ts'
import { settleRolls, type Deps } from './act.ts'

const config = Type.Object({
  kubeconfig: Type.Optional(Type.String({ description: 'path of a kubeconfig; left out inside a cluster' })),
  rollNamespace: Type.String({ default: 'drover', description: 'where the ConfigMaps of rolling maintenance are' }),
  observe: Type.Boolean({ default: false, description: 'say what would be done and touch no host (HV-8)' })
})

export default defineFunction({
  name: 'rolling',
  config,

  async open({ kubeconfig, rollNamespace, observe }, { log, metrics, onClose }): Promise<Deps> {
    const { connect } = await import('../../shared/kube/index.ts')
    const kube = await connect({ manager: 'drover-rolling', log, metrics, ...(kubeconfig !== undefined && { kubeconfig }) })
    onClose(() => kube.close())
    return { kube, log, observe, namespace: rollNamespace }
  },

  // the fast one is enough: a roll takes hours
  reactions: [on(tick, { key: () => 'tick' }, (_, deps: Deps) => settleRolls(deps))]
})
