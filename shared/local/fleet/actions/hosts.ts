import { breakMove } from '../../openstack/index.ts'
import { Hypervisor } from '../../../schema/hypervisor.ts'
import { agentNames, type AgentName } from '../agents.ts'
import type { Fleet } from '../fleet.ts'
import type { SimHost } from '../host.ts'
import { hostIn, poweredHost, Undoable } from './find.ts'
import type { Deeds } from './perform.ts'

const chosen = (agent: AgentName | 'both'): readonly AgentName[] => (agent === 'both' ? agentNames : [agent])
const words = { hypervisor: 'the hypervisor agent', ovs: 'the OVS agent', both: 'both agents' } as const

/** What was on its way to the host goes on where it was. What was leaving it dies with it, and Nova's records stay until it is back. */
async function turnOff(fleet: Fleet, host: SimHost): Promise<void> {
  for (const record of fleet.cloud.world.migrations)
    if (record.status === 'running' && record.target === host.name) breakMove(fleet.cloud.world, record)
  fleet.guests.lose(host)
  await fleet.powerOff(host)
}

type Names =
  | 'kill-libvirt'
  | 'start-libvirt'
  | 'kill-agent'
  | 'start-agent'
  | 'power-off'
  | 'power-on'
  | 'reboot-host'
  | 'drain-host'
  | 'undrain-host'

export const hostDeeds: Pick<Deeds, Names> = {
  'kill-libvirt': async (fleet, { host: name }) => {
    const host = poweredHost(fleet, name)
    if (!host.libvirtRuns) throw new Undoable('conflict', `libvirtd of ${name} does not run`)
    await host.stopLibvirt()
    return { did: `libvirtd of ${name} is dead; its servers go on running` }
  },
  'start-libvirt': async (fleet, { host }) => {
    await poweredHost(fleet, host).startLibvirt()
    return { did: `libvirtd of ${host} runs` }
  },
  'kill-agent': async (fleet, { host: name, agent }) => {
    const agents = fleet.agentsOf(poweredHost(fleet, name))
    await Promise.all(chosen(agent).map(one => agents.stop(one)))
    return { did: `${words[agent]} of ${name} ${agent === 'both' ? 'are' : 'is'} dead` }
  },
  'start-agent': async (fleet, { host: name, agent }) => {
    const agents = fleet.agentsOf(poweredHost(fleet, name))
    await Promise.all(chosen(agent).map(one => agents.start(one)))
    return { did: `${words[agent]} of ${name} ${agent === 'both' ? 'run' : 'runs'}` }
  },
  'power-off': async (fleet, { host: name }) => {
    await turnOff(fleet, poweredHost(fleet, name))
    return { did: `${name} has no power` }
  },
  'power-on': async (fleet, { host: name }) => {
    const host = hostIn(fleet, name)
    if (host.power === 'on') throw new Undoable('conflict', `${name} has power`)
    await fleet.powerOn(host)
    return { did: `${name} has booted` }
  },
  'reboot-host': async (fleet, { host: name, seconds }) => {
    const host = poweredHost(fleet, name)
    await turnOff(fleet, host)
    fleet.clock.after(seconds * 1000, () => void (host.power === 'off' && fleet.powerOn(host).catch(fleet.onFault)))
    return { did: `${name} reboots, which takes ${seconds} s` }
  },
  'drain-host': async (fleet, { host: name, reason }) => {
    hostIn(fleet, name)
    await fleet.kube.patch(Hypervisor, { name }, { spec: { maintenance: 'manual', maintenanceReason: reason } })
    return { did: `${name} is to be drained: ${reason}` }
  },
  'undrain-host': async (fleet, { host: name }) => {
    hostIn(fleet, name)
    await fleet.kube.patch(Hypervisor, { name }, { spec: { maintenance: '', maintenanceReason: '' } })
    return { did: `${name} goes back into service` }
  }
}
