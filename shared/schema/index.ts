import type { Crd } from './crd.ts'
import { Eviction } from './eviction.ts'
import { Hypervisor } from './hypervisor.ts'
import { Machine } from './machine.ts'
import { Migration } from './migration.ts'
import { NetworkConfiguration } from './network-configuration.ts'
import { OVSNode } from './ovs-node.ts'

export const kinds: readonly Crd[] = [Hypervisor, Eviction, Migration, OVSNode, Machine, NetworkConfiguration]

export { Eviction, Hypervisor, Machine, Migration, NetworkConfiguration, OVSNode }
