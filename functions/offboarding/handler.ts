import { Type } from 'typebox'
import { Duration } from '../../shared/runtime/config.ts'
import { defineFunction } from '../../shared/runtime/function.ts'
import { hostFields, hostReactions, openHostDeps } from '../../shared/openstack/host-function.ts'
import { serviceReaction } from '../../shared/openstack/nova-hints.ts'
import { settle, type Deps } from './act.ts'
import { isDue, isLeaving, manager } from './decide.ts'

const config = Type.Object({
  ...hostFields,
  nameForms: Type.Array(Type.String(), { default: [], description: 'further names in Nova, as {name}.example.com (HV-28)' }),
  firstWait: Duration({ default: '5s', description: 'after the first failure; doubled after each (HV-56)' }),
  longestWait: Duration({ default: '5m', description: 'the longest such wait' })
})

export default defineFunction({
  name: 'offboarding',
  config,

  async open({ nameForms, firstWait, longestWait, ...host }, platform): Promise<Deps> {
    const options = { nameForms, firstWaitMs: firstWait, longestWaitMs: longestWait }
    return { ...(await openHostDeps(manager, host, platform)), options }
  },

  reactions: [
    ...hostReactions<Deps>({
      changed: ['created', 'spec', 'conditions'],
      settle,
      isOpen: (hypervisor, { clock, options }) => isLeaving(hypervisor) && isDue(hypervisor, clock(), options)
    }),
    serviceReaction<Deps>({ settle }, ({ options }) => options.nameForms)
  ]
})
