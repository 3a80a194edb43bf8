// The fleet as `GET /fleet` tells it.
import type { ShownFleet, ShownHost } from '../../runtime/simulator.ts'
import type { Fleet } from './fleet.ts'
import type { SimHost } from './host.ts'

export const shownFleet = (fleet: Fleet): ShownFleet => ({
  seed: fleet.wishes.seed,
  at: fleet.now().toISOString(),
  nova: fleet.nova,
  hosts: [...fleet.hosts.values()].filter(host => fleet.hasArrived(host)).map(host => shownHost(fleet, host)),
  undo: [...fleet.undo.values()]
})

function shownHost(fleet: Fleet, host: SimHost): ShownHost {
  const { name, zone, block } = host.plan
  const agents = fleet.agentsOf(host)
  return {
    name,
    zone,
    block,
    power: host.power,
    libvirt: host.libvirtRuns ? 'running' : 'stopped',
    agents: { hypervisor: agents.state('hypervisor'), ovs: agents.state('ovs') },
    links: host.vswitch.links.map(link => ({ name: link.name, bond: link.bond, up: link.up })),
    vms: host.domains.all().map(({ uuid, name: called, state }) => ({ id: uuid, name: called, state: String(state.state) }))
  }
}
