// The kinds of KubeVirt, CDI and Multus that a Machine becomes, as far as this function reads or writes them.
import type { Kind, KubeObject, ObjectMeta } from '../../shared/schema/kind.ts'

interface Named {
  metadata: ObjectMeta
}

export interface Volume {
  name: string
  persistentVolumeClaim?: { claimName: string; hotpluggable?: boolean }
  dataVolume?: { name: string; hotpluggable?: boolean }
  containerDisk?: { image: string }
  cloudInitNoCloud?: { secretRef?: { name: string }; networkDataSecretRef?: { name: string } }
}
export interface DiskDevice {
  name: string
  bootOrder?: number
  disk?: { bus: string; readonly?: boolean }
  cdrom?: { bus: string; readonly?: boolean }
}
export interface Interface {
  name: string
  bootOrder?: number
  model?: string
  macAddress?: string
  masquerade?: object
  bridge?: object
}
export interface Network {
  name: string
  pod?: object
  multus?: { networkName: string }
}
export interface DomainSpec {
  devices: { disks?: DiskDevice[]; interfaces?: Interface[]; networkInterfaceMultiqueue?: boolean }
  [part: string]: unknown
}
export interface InstanceSpec {
  domain: DomainSpec
  networks?: Network[]
  volumes?: Volume[]
  evictionStrategy?: string
}
export type RunStrategy = 'Always' | 'Halted' | 'Manual' | 'RerunOnFailure' | 'Once'
export interface KubeCondition {
  type: string
  status: string
  reason?: string
  message?: string
}

export interface VirtualMachine extends KubeObject, Named {
  metadata: ObjectMeta
  spec: {
    runStrategy?: RunStrategy
    running?: boolean
    template: { metadata?: { labels?: Record<string, string> }; spec: InstanceSpec }
  }
  status?: {
    printableStatus?: string
    created?: boolean
    ready?: boolean
    observedGeneration?: number
    conditions?: KubeCondition[]
  }
}
const kubevirt = { group: 'kubevirt.io', version: 'v1', namespaced: true } as const
export const VirtualMachine: Kind<VirtualMachine> = { ...kubevirt, kind: 'VirtualMachine', plural: 'virtualmachines' }

export interface VirtualMachineInstance extends KubeObject, Named {
  metadata: ObjectMeta
  spec?: { volumes?: Array<{ name: string }> }
  status?: {
    phase?: string
    nodeName?: string
    interfaces?: Array<{ name?: string; mac?: string; ipAddress?: string; ipAddresses?: string[]; infoSource?: string }>
  }
}
export const VirtualMachineInstance: Kind<VirtualMachineInstance> = {
  ...kubevirt,
  kind: 'VirtualMachineInstance',
  plural: 'virtualmachineinstances'
}

export interface DataVolume extends KubeObject, Named {
  metadata: ObjectMeta
  spec: {
    source?: object
    sourceRef?: object
    storage?: {
      accessModes?: string[]
      volumeMode?: string
      storageClassName?: string
      resources?: { requests: { storage: string } }
    }
  }
  status?: { phase?: string }
}
export const DataVolume: Kind<DataVolume> = {
  group: 'cdi.kubevirt.io',
  version: 'v1beta1',
  kind: 'DataVolume',
  plural: 'datavolumes',
  namespaced: true
}

export interface NetworkAttachment extends KubeObject, Named {
  metadata: ObjectMeta
  spec?: { config?: string }
}
export const NetworkAttachment: Kind<NetworkAttachment> = {
  group: 'k8s.cni.cncf.io',
  version: 'v1',
  kind: 'NetworkAttachmentDefinition',
  plural: 'network-attachment-definitions',
  namespaced: true
}

export interface StorageClass extends KubeObject, Named {
  metadata: ObjectMeta
}
export const StorageClass: Kind<StorageClass> = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'StorageClass',
  plural: 'storageclasses',
  namespaced: false
}
