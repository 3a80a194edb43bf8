import { hostname } from 'node:os'
import { Counter } from 'prom-client'
import { Type } from 'typebox'
import { anyEvent } from '../../shared/events/kind.ts'
import type { Kube } from '../../shared/kube/index.ts'
import { defineFunction, on } from '../../shared/runtime/function.ts'
import { allowance, type Allowance } from './allowance.ts'
import { toEvent } from './letter.ts'

const config = Type.Object({
  kubeconfig: Type.Optional(Type.String({ description: 'path of a kubeconfig; left out inside a cluster' })),
  namespace: Type.String({ default: 'drover', description: 'where they are written down, as Kubernetes Events' })
})

interface Deps {
  letters: Counter<'code'>
  kube: Kube
  namespace: string
  clock: () => Date
  allowance: Allowance
}

/** A broken function can make thousands a minute; the log has them all. */
const aMinute = 60

/** Where events end that nobody could handle: counted, told in one log line each, without their data, and written down for page and command line. */
export default defineFunction({
  name: 'dead-letters',
  config,

  async open({ kubeconfig, namespace }, { metrics, clock, log, onClose }): Promise<Deps> {
    const { connect } = await import('../../shared/kube/index.ts')
    const kube = await connect({ manager: 'drover-dead-letters', log, ...(kubeconfig !== undefined && { kubeconfig }) })
    onClose(() => kube.close())
    const letters = new Counter({
      name: 'drover_dead_letters_total',
      help: 'Events that no function could handle, by the status of the last answer',
      labelNames: ['code'],
      registers: [metrics]
    })
    return { letters, kube, namespace, clock, allowance: allowance(aMinute) }
  },

  reactions: [
    on(anyEvent, { key: ({ id }) => id }, async (event, deps: Deps, { log }) => {
      const { id, type, source, subject, extensions } = event
      const { knativeerrorcode: code = 'none', knativeerrordest: destination } = extensions
      deps.letters.inc({ code: /^-?\d{1,3}$/.test(code) ? code : 'none' })
      log.warn({ id, type, source, subject, code, destination }, 'dead letter')
      const now = deps.clock()
      if (!deps.allowance(now)) return
      const { Event, KubeError } = await import('../../shared/kube/index.ts')
      try {
        await deps.kube.create(Event, toEvent(event, deps.namespace, hostname(), now))
      } catch (err) {
        if (!(err instanceof KubeError)) throw err
        // It was told above. A dead letter that is sent again would only be a second one.
        if (err.code !== 'AlreadyExists') log.warn({ err, id }, 'the dead letter could not be written down')
      }
    })
  ]
})
