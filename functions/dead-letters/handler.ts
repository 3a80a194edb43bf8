import { Counter } from 'prom-client'
import { Type } from 'typebox'
import { anyEvent } from '../../shared/events/kind.ts'
import { defineFunction, on } from '../../shared/runtime/function.ts'

interface Deps {
  letters: Counter<'code'>
}

/** Where events end that nobody could handle: counted, and told in one log line each, without their data. */
export default defineFunction({
  name: 'dead-letters',
  config: Type.Object({}),

  async open(_config, { metrics }): Promise<Deps> {
    const letters = new Counter({
      name: 'drover_dead_letters_total',
      help: 'Events that no function could handle, by the status of the last answer',
      labelNames: ['code'],
      registers: [metrics]
    })
    return { letters }
  },

  reactions: [
    on(anyEvent, { key: ({ id }) => id }, async ({ id, type, source, subject, extensions }, { letters }: Deps, { log }) => {
      const { knativeerrorcode: code = 'none', knativeerrordest: destination } = extensions
      letters.inc({ code: /^-?\d{1,3}$/.test(code) ? code : 'none' })
      log.warn({ id, type, source, subject, code, destination }, 'dead letter')
    })
  ]
})
