import { tell } from '../../openstack/index.ts'
import { guestIn, runningGuest, serverIn, Undoable } from './find.ts'
import type { Deeds } from './perform.ts'

const noticedMs = 1000 // until nova-compute has heard of it from libvirt

type Names = 'crash-vm' | 'start-vm' | 'fire-watchdog' | 'fail-disk' | 'heal-disk'

export const serverDeeds: Pick<Deeds, Names> = {
  'crash-vm': (fleet, { vm }) => {
    const { instance, host, domain } = runningGuest(fleet, vm)
    host.domains.stop(domain, 'crashed')
    host.vswitch.plug(instance.id, false)
    fleet.clock.after(noticedMs, () => {
      if (instance.host !== host.name || instance.taskState !== null) return // somebody is at work on it
      if (host.domains.find(instance.id)?.state.state === 'running') return // or was already
      Object.assign(instance, { vmState: 'stopped', powerState: 4 })
      tell(fleet.cloud.world, instance)
    })
    return { did: `${instance.name} on ${host.name} has crashed` }
  },
  'start-vm': (fleet, { vm }) => {
    const instance = serverIn(fleet, vm)
    if (instance.taskState !== null) throw new Undoable('conflict', `${instance.name} is ${instance.taskState} now`)
    Object.assign(instance, { vmState: 'active', powerState: 1 })
    tell(fleet.cloud.world, instance)
    return { did: `${instance.name} on ${instance.host} is started` }
  },
  'fire-watchdog': (fleet, { vm, action }) => {
    const { instance, host, domain } = runningGuest(fleet, vm)
    host.domains.fireWatchdog(domain, action)
    if (action === 'pause') instance.powerState = 3
    if (action === 'poweroff') Object.assign(instance, { vmState: 'stopped', powerState: 4 })
    return { did: `the watchdog of ${instance.name} on ${host.name} has fired (${action})` }
  },
  'fail-disk': (fleet, { vm, device, reason }) => {
    const { instance, host, domain } = runningGuest(fleet, vm)
    host.domains.failDisk(domain, device, `/var/lib/nova/instances/${instance.id}/disk`, reason)
    instance.powerState = 3
    return { did: `${device} of ${instance.name} on ${host.name} gives I/O errors (${reason}); the server is paused` }
  },
  'heal-disk': (fleet, { vm }) => {
    const { instance, host, domain } = guestIn(fleet, vm)
    if (domain.state.state !== 'paused') throw new Undoable('conflict', `${instance.name} is not paused`)
    instance.powerState = 1
    host.domains.resume(domain)
    return { did: `the disk of ${instance.name} works again` }
  }
}
