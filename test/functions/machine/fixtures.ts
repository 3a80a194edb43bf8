import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import type { InstanceSpec, KubeCondition, VirtualMachine } from '../../../functions/machine/kubevirt.ts'
import { render, type Rendered, type RenderOptions } from '../../../functions/machine/render.ts'
import type { Machine } from '../../../shared/schema/machine.ts'
import type { NetworkConfiguration } from '../../../shared/schema/network-configuration.ts'

const text = (file: string): string => readFileSync(join(import.meta.dirname, '../../fixtures/machine', file), 'utf8')
const documents = (file: string): unknown[] => parseAllDocuments(text(file)).map(document => document.toJSON() as unknown)

export const [goldenMachine, goldenVm] = documents('golden.yaml') as [Machine, VirtualMachine]
export const seedMachines = (documents('seed.yaml') as Machine[]).map(({ metadata, ...machine }) =>
  Object.assign(machine, { metadata: Object.assign(metadata, { uid: 'UID' }) })
)
export const seedVms = parse(text('seed-vms.yaml')) as Record<string, VirtualMachine['spec']['template']['spec']>

export const network = (name: string, spec: NetworkConfiguration['spec'], namespace = 'default'): NetworkConfiguration => ({
  apiVersion: 'vitistack.io/v1alpha1',
  kind: 'NetworkConfiguration',
  metadata: { name, namespace },
  spec
})
export const networks: Record<string, NetworkConfiguration> = {
  'mgmt-net': network('mgmt-net', { podNetwork: true }, 'shop'),
  'data-net': network('data-net', { bridge: 'br-prov', vlan: 310, mtu: 9000 }, 'shop'),
  'prod-network': network('prod-network', { bridge: 'br0', vlan: 2101 }),
  'storage-network': network('storage-network', { bridge: 'br1' })
}
export const networkOf = (name: string): NetworkConfiguration | undefined => networks[name]

export const options: RenderOptions = { architecture: 'amd64', macSeed: '', cniVersion: '1.0.0', hasClassDefault: false }

export const machine = (spec: Machine['spec'], metadata: Partial<Machine['metadata']> = {}): Machine => ({
  apiVersion: 'vitistack.io/v1alpha1',
  kind: 'Machine',
  metadata: { name: 'm', namespace: 'default', uid: 'UID', generation: 1, ...metadata },
  spec
})

export const vm = (printableStatus: string | undefined, conditions: KubeCondition[] = [], observed = true): VirtualMachine => ({
  metadata: { name: 'm', namespace: 'default', resourceVersion: '7' },
  spec: { template: { spec: { domain: { devices: {} } } } },
  status: { ...(printableStatus && { printableStatus }), conditions, ...(observed && { observedGeneration: 1 }) }
})

export type Spec = Machine['spec']
export const made = (spec: Spec, more: Partial<RenderOptions> = {}): Rendered =>
  render(machine(spec), networkOf, undefined, { ...options, ...more })
export const guest = (spec: Spec, more?: Partial<RenderOptions>): InstanceSpec => made(spec, more).vm.spec.template.spec
