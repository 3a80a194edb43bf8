// A domain of a simulated hypervisor, as libvirt knows it.
import type { Domain, DomainState, TypedParam } from 'node-libvirt'

export interface DomainSpec {
  uuid: string
  name: string
  vcpus: number
  memoryMiB: number
}

export interface SimDomain extends DomainSpec {
  /** -1 while it is off. */
  id: number
  state: DomainState
  /** Gone from libvirt when it stops. */
  transient: boolean
  /** A move away from here. */
  job?: Job
  /** Figures of the last move, for those who ask later. */
  lastJob?: readonly TypedParam[]
}

export interface Job {
  startedMs: number
  durationMs: number
}

export const isActive = ({ id }: SimDomain): boolean => id >= 0

export const reference = ({ name, uuid, id }: SimDomain): Domain => ({ name, uuid, id })

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

/** The parts that a reader of allocations looks at, and a disk and a card as Nova would give it. */
export function domainXml({ uuid, name, vcpus, memoryMiB, id }: SimDomain): string {
  const running = id >= 0 ? ` id="${id}"` : ''
  return `<domain type="kvm"${running}>
  <name>${escaped(name)}</name>
  <uuid>${uuid}</uuid>
  <memory unit="KiB">${memoryMiB * 1024}</memory>
  <currentMemory unit="KiB">${memoryMiB * 1024}</currentMemory>
  <vcpu placement="static">${vcpus}</vcpu>
  <os><type arch="x86_64" machine="pc-q35-7.2">hvm</type></os>
  <devices>
    <disk type="file" device="disk"><source file="/var/lib/nova/instances/${uuid}/disk"/><target dev="vda" bus="virtio"/></disk>
    <interface type="bridge"><source bridge="br-int"/><target dev="${tapOf(uuid)}"/><model type="virtio"/></interface>
  </devices>
</domain>`
}

/** As Nova names it: 14 characters, by the port. */
export const tapOf = (uuid: string): string => `tap${uuid.slice(0, 11)}`

/** Name, size and uuid of a document that somebody hands in; what it leaves out is small. */
export function specOf(xml: string, newUuid: () => string): DomainSpec {
  const text = (pattern: RegExp): string | undefined => pattern.exec(xml)?.[1]
  const units: Record<string, number> = { KiB: 1 / 1024, MiB: 1, GiB: 1024 }
  const [, unit = 'KiB', memory = '65536'] = /<memory(?: unit=["'](\w+)["'])?>(\d+)</.exec(xml) ?? []
  return {
    uuid: text(/<uuid>([^<]+)</) ?? newUuid(),
    name: text(/<name>([^<]+)</) ?? '',
    vcpus: Number(text(/<vcpu[^>]*>(\d+)</) ?? 1),
    memoryMiB: Math.round(Number(memory) * (units[unit] ?? 1))
  }
}
