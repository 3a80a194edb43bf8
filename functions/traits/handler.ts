import { Type } from 'typebox'
import { defineFunction } from '../../shared/runtime/function.ts'
import { hostFields, hostReactions, openHostDeps } from '../../shared/openstack/host-function.ts'
import { differing, settle, type Deps } from './act.ts'
import { isOpen, manager } from './decide.ts'
import { factPattern, parseFactRule } from './facts.ts'

const config = Type.Object({
  ...hostFields,
  drift: Type.Enum(['repair', 'report'], { default: 'repair', description: 'what to do with traits that others took away' }),
  factTraits: Type.Array(Type.String({ pattern: factPattern }), {
    default: [],
    description: 'traits that follow a condition, as CUSTOM_DEGRADED_NETWORK=NetworkHealthy:False/NetworkDegraded (AG-14)'
  })
})

export default defineFunction({
  name: 'traits',
  config,

  async open({ drift, factTraits, ...host }, platform): Promise<Deps> {
    return { ...(await openHostDeps(manager, host, platform)), drift, facts: factTraits.map(parseFactRule) }
  },

  reactions: hostReactions<Deps>({
    changed: ['created', 'annotations', 'spec', 'conditions'],
    settle,
    isOpen,
    differing
  })
})
