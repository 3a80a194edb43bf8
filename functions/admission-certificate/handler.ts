import { Type } from 'typebox'
import { tick } from '../../shared/events/knative.ts'
import { Duration } from '../../shared/runtime/config.ts'
import { defineFunction, on } from '../../shared/runtime/function.ts'
import { settle, type Deps } from './act.ts'

const config = Type.Object({
  kubeconfig: Type.Optional(Type.String({ description: 'path of a kubeconfig; left out inside a cluster' })),
  namespace: Type.String({ default: 'drover', description: 'of the Service and the Secret' }),
  service: Type.String({ default: 'admission-tls', description: 'the Service that the webhook configurations name' }),
  secret: Type.String({ default: 'admission-tls', description: 'the Secret that the admission function mounts' }),
  configuration: Type.String({ default: 'drover-admission', description: 'name of both webhook configurations' }),
  days: Type.Integer({ minimum: 2, maximum: 3650, default: 90, description: 'how long a certificate lasts' }),
  renewBefore: Duration({ default: '720h', description: 'time before its end at which it is made anew' })
})

const dayMs = 24 * 3_600_000

/** Keeps the certificate of the admission webhook: made at install, renewed in time, trusted before it is shown. */
export default defineFunction({
  name: 'admission-certificate',
  config,

  problems: ({ days, renewBefore }) =>
    renewBefore <= (days - 1) * dayMs
      ? []
      : [`RENEW_BEFORE must be at least a day shorter than the ${days} DAYS of a certificate, or every tick would make another`],

  async open({ kubeconfig, renewBefore, ...options }, { clock, log, onClose }): Promise<Deps> {
    const { connect } = await import('../../shared/kube/index.ts')
    const kube = await connect({ manager: 'drover-admission-certificate', log, ...(kubeconfig !== undefined && { kubeconfig }) })
    onClose(() => kube.close())
    const deps: Deps = { kube, clock, log, options: { ...options, renewBeforeMs: renewBefore } }
    await settle(deps) // the install step: a new revision is started once, and admission waits for the Secret
    return deps
  },

  reactions: [on(tick, { key: () => 'tick' }, async ({ data }, deps: Deps) => (data.tick === 'slow' ? settle(deps) : undefined))]
})
