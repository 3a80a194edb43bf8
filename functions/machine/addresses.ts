// P5: the addresses of a Machine, in the order of its cards. Pure.
import { BlockList, isIPv6 } from 'node:net'
import type { Machine } from '../../shared/schema/machine.ts'
import type { VirtualMachine, VirtualMachineInstance } from './kubevirt.ts'

const useless = new BlockList()
useless.addSubnet('127.0.0.0', 8, 'ipv4')
useless.addSubnet('169.254.0.0', 16, 'ipv4')
useless.addAddress('::1', 'ipv6')
useless.addSubnet('fe80::', 10, 'ipv6')

type Reported = NonNullable<NonNullable<VirtualMachineInstance['status']>['interfaces']>[number]

export function addresses({ spec }: Machine, vm: VirtualMachine | undefined, { status }: VirtualMachineInstance): string[] {
  const macs = new Map(
    vm?.spec.template.spec.domain.devices.interfaces?.map(({ name, macAddress }) => [name, macAddress?.toLowerCase()])
  )
  const names = spec.networks?.length ? spec.networks.map(({ name }) => name) : ['default']
  const reported = status?.interfaces ?? []
  const found = names.flatMap(name => {
    const byName = reported.filter(nic => nic.name === name)
    if (byName.length > 0) return byName
    const mac = macs.get(name)
    return reported.filter(nic => mac !== undefined && nic.mac?.toLowerCase() === mac && !onlyGuest(nic))
  })
  const all = found.flatMap(({ ipAddress, ipAddresses }) => [ipAddress ?? [], ipAddresses ?? []].flat())
  return [...new Set(all)].filter(isUseful)
}

/** Bridges and tunnels inside the guest that only its agent tells of. */
const onlyGuest = ({ infoSource }: Reported): boolean => infoSource === 'guest-agent'

const isUseful = (address: string): boolean => !useless.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
