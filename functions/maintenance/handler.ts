import { Type } from 'typebox'
import { shutdownCancelled, shutdownRequested } from '../../shared/events/libvirt.ts'
import { evictionChanged, evictionDeleted } from '../../shared/events/objects.ts'
import { hostFields, hostReactions, onBehalfOf, openHostDeps, settleNow } from '../../shared/openstack/host-function.ts'
import { serviceReaction } from '../../shared/openstack/nova-hints.ts'
import { defineFunction, on } from '../../shared/runtime/function.ts'
import { drainForShutdown, settle, shutdownIsOff, type Deps } from './act.ts'
import { isOpen, manager } from './decide.ts'

const config = Type.Object({
  ...hostFields,
  takeover: Type.Boolean({ default: false, description: 'enable a service that somebody else disabled (HV-32)' })
})

/** Ours are named like their host. */
const ofHost = (name: string, deps: Deps): Promise<void> => settleNow({ settle }, name, deps)

export default defineFunction({
  name: 'maintenance',
  config,

  async open({ takeover, ...host }, platform): Promise<Deps> {
    return { ...(await openHostDeps(manager, host, platform)), takeover }
  },

  reactions: [
    ...hostReactions<Deps>({
      changed: ['created', 'labels', 'annotations', 'spec', 'conditions', 'status'],
      settle,
      isOpen: (hypervisor, { clock }) => isOpen(hypervisor, clock().getTime())
    }),
    serviceReaction<Deps>({ settle }),
    on(
      evictionChanged,
      { key: ({ data }) => data.name, changed: ['created', 'spec', 'conditions', 'status', 'deleting'] },
      ({ data }, deps: Deps, call) => ofHost(data.name, onBehalfOf(call, deps))
    ),
    on(evictionDeleted, { key: ({ data }) => data.name }, ({ data }, deps: Deps, call) =>
      ofHost(data.name, onBehalfOf(call, deps))
    ),
    on(shutdownRequested, { key: ({ data }) => data.host }, ({ data }, deps: Deps, call) =>
      deps.inTurn(data.host, () => drainForShutdown(data.host, data, onBehalfOf(call, deps)))
    ),
    on(shutdownCancelled, { key: ({ data }) => data.host }, ({ data }, deps: Deps, call) =>
      deps.inTurn(data.host, () => shutdownIsOff(data.host, data.at, onBehalfOf(call, deps)))
    )
  ]
})
