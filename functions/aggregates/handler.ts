import { Type } from 'typebox'
import { defineFunction } from '../../shared/runtime/function.ts'
import { hostFields, hostReactions, openHostDeps } from '../../shared/openstack/host-function.ts'
import { settle, type Deps } from './act.ts'
import { isOpen, manager } from './decide.ts'

const config = Type.Object({
  ...hostFields,
  testAggregate: Type.String({ default: 'tenant_filter_tests', description: 'where a host is while it is tested' }),
  alwaysZone: Type.Boolean({ default: true, description: 'the zone is wanted also without annotation (AG-4)' }),
  ignoreAggregates: Type.Array(Type.String(), { default: [], description: 'regular expressions of names never touched (AG-7)' }),
  missingAggregates: Type.Enum(['report', 'create'], {
    default: 'report',
    description: 'what to do about a wanted aggregate that does not exist (AG-5)'
  }),
  drift: Type.Enum(['repair', 'report'], { default: 'repair', description: 'what to do with changes by others (AG-7)' })
})

export default defineFunction({
  name: 'aggregates',
  config,

  async open({ testAggregate, alwaysZone, ignoreAggregates, missingAggregates, drift, ...host }, platform): Promise<Deps> {
    const ignore = ignoreAggregates.map(pattern => new RegExp(pattern))
    const options = { testAggregate, alwaysZone, ignore, drift, missing: missingAggregates }
    return { ...(await openHostDeps(manager, host, platform)), options }
  },

  reactions: hostReactions<Deps>({
    changed: ['created', 'labels', 'annotations', 'spec', 'conditions'],
    settle,
    isOpen
  })
})
