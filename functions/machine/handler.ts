import { tick } from '../../shared/events/knative.ts'
import {
  claimChanged,
  claimDeleted,
  dataVolumeChanged,
  dataVolumeDeleted,
  machineChanged,
  machineDeleted,
  networkChanged,
  networkDeleted,
  vmChanged,
  vmDeleted,
  vmiChanged,
  vmiDeleted
} from '../../shared/events/objects.ts'
import { defineFunction, on } from '../../shared/runtime/function.ts'
import { config } from './config.ts'
import type { Deps } from './deps.ts'
import { keyOf, onChild, onMachine, onNetwork, onTick } from './reactions.ts'

export default defineFunction({
  name: 'machine',
  config,

  async open(settings, platform): Promise<Deps> {
    const { openDeps } = await import('./open.ts') // after the port is open: half of a cold start is loading this
    return openDeps(settings, platform)
  },

  reactions: [
    // P6: what our own status writes change is none of our business
    on(machineChanged, { key: keyOf, changed: ['created', 'labels', 'annotations', 'spec', 'deleting'] }, onMachine),
    on(machineDeleted, { key: keyOf }, onMachine),
    ...[vmChanged, vmDeleted, vmiChanged, vmiDeleted].map(kind => on(kind, { key: keyOf }, onChild)),
    ...[claimChanged, claimDeleted, dataVolumeChanged, dataVolumeDeleted].map(kind => on(kind, { key: keyOf }, onChild)),
    on(networkChanged, { key: keyOf, changed: ['created', 'labels', 'annotations', 'spec', 'deleting'] }, onNetwork),
    on(networkDeleted, { key: keyOf }, onNetwork),
    on(tick, { key: () => 'tick' }, onTick)
  ]
})
