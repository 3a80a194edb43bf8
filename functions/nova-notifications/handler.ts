import { Type } from 'typebox'
import { novaServerChanged, novaServiceChanged, rabbitmqMessage } from '../../shared/events/nova.ts'
import { defineFunction, on, type Platform } from '../../shared/runtime/function.ts'
import { decide } from './decide.ts'
import { read } from './read.ts'

type Deps = Pick<Platform, 'emit'>

export default defineFunction({
  name: 'nova-notifications',
  config: Type.Object({}),
  open: async (_config, { emit }): Promise<Deps> => ({ emit }),

  reactions: [
    on(rabbitmqMessage, async ({ id, data }, { emit }: Deps, { traceparent }) => {
      const notification = read(data)
      const hint = notification && decide(notification)
      if (!notification || !hint) return
      // the same message twice is the same event
      const common = { id: notification.message_id ?? id, traceparent }
      if (hint.about === 'service') {
        const { event, host } = hint
        await emit({ kind: novaServiceChanged, data: { event, host }, partitionkey: host, ...common })
      } else {
        const { about: _, ...told } = hint
        await emit({ kind: novaServerChanged, data: told, partitionkey: told.server, ...common })
      }
    })
  ]
})
