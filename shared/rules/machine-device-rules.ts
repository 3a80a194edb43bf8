// A9–A14: firmware, machine type, MAC addresses, networks, sources (spec/machine.md §9). Pure.
import type { Violation } from '../schema/violation.ts'
import type { MachineAsked } from './machine-facts.ts'
import { cdromPath, diskPath, networkPath } from './machine-paths.ts'
import type { Cdrom, Nic, Source } from './merge.ts'
import { breach, breaches, type Rule } from './rule.ts'

type MachineRule = Rule<MachineAsked>

export const firmware: MachineRule = {
  id: 'A9',
  weight: 'refused',
  what: 'secure boot without EFI or outside the q35 family; EFI without ACPI',
  example: 'spec: {template: small, domain: {firmware: {bootloader: {efi: false, secureBoot: true}}}}',
  fix: 'secureBoot needs EFI and a q35 machine; EFI needs ACPI',
  check({ machine: { spec }, facts }) {
    const { machine, features, firmware } = spec.domain ?? {}
    const { efi, secureBoot } = firmware?.bootloader ?? {}
    const type = machine?.type
    const q35 = type === undefined ? facts.architecture === 'amd64' : /^(pc-)?q35/.test(type)
    const usesEfi = efi === true || secureBoot === true || facts.architecture === 'arm64'
    const path = 'spec.domain.firmware.bootloader'
    return [
      ...(secureBoot && efi === false ? [breach(path, 'secureBoot needs EFI: efi must not be false')] : []),
      ...(secureBoot && !q35
        ? [breach(`${path}.secureBoot`, 'needs a machine type of the q35 family: use q35 or leave secureBoot out')]
        : []),
      ...(usesEfi && features?.acpi === false
        ? [breach('spec.domain.features.acpi', 'EFI needs ACPI: do not switch it off')]
        : [])
    ]
  }
}

export const machineType: MachineRule = {
  id: 'A10',
  weight: 'refused',
  what: 'a machine type of the i440fx family while it is not allowed, or without a version when it is',
  example: 'spec: {template: small, domain: {machine: {type: pc-i440fx-9.0}}}',
  fix: 'use q35; ALLOW_I440FX=true allows the old type, with a version',
  check({ machine: { spec }, facts }) {
    const type = spec.domain?.machine?.type
    const path = 'spec.domain.machine.type'
    if (type === undefined || !(type === 'pc' || type.startsWith('pc-i440fx'))) return []
    if (!facts.allowI440fx) return [breach(path, `${type} is not allowed here: use q35`)]
    return type === 'pc' || /^pc-i440fx-./.test(type) ? [] : [breach(path, 'pc-i440fx needs a version, such as pc-i440fx-9.0')]
  }
}

const macForm = /^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$/

function macProblem(mac: string): string | undefined {
  if (!macForm.test(mac)) return 'must be six octets, such as 52:54:00:12:34:56'
  if ((Number.parseInt(mac.slice(0, 2), 16) & 1) === 1) return 'is a multicast address: the first octet must be even'
  return mac === '02:00:00:00:00:00' ? '02:00:00:00:00:00 cannot be used: KubeVirt keeps it for itself' : undefined
}

export const macAddresses: MachineRule = {
  id: 'A11',
  weight: 'refused',
  what: 'a MAC address that is malformed, multicast or 02:00:00:00:00:00',
  example: 'spec: {template: small, networks: [{name: eth0, networkName: prod, macAddress: "01:00:5e:00:00:01"}]}',
  fix: 'six octets, the first one even; or leave it out and one is derived from the names',
  check: ({ merged: { networks } }) =>
    breaches(
      networks,
      ({ macAddress }) => (macAddress === undefined ? undefined : macProblem(macAddress)),
      (_, i) => networkPath(i, 'macAddress')
    )
}

export const onePodNetwork: MachineRule = {
  id: 'A12',
  weight: 'refused',
  what: 'more than one network card on the pod network',
  example: 'spec: {template: small, networks: [{name: a, networkName: pods}, {name: b, networkName: pods}]}',
  fix: 'one card on the pod network, the others on a bridge or a nadRef',
  check({ merged: { networks }, facts }) {
    let onPod = 0
    const problem = ({ networkName }: Nic): string | undefined => {
      const found = facts.network(networkName)
      const another = found.known && found.value?.spec.podNetwork === true && ++onPod > 1
      return another ? 'another card is on the pod network already: KubeVirt allows one' : undefined
    }
    return breaches(networks, problem, (_, i) => networkPath(i, 'networkName'))
  }
}

const members = ['blank', 'http', 'registry', 'pvc', 'dataSource', 'containerDisk'] as const

/** What is wrong with a source in itself. */
function memberProblem(source: Source): string | undefined {
  const given = members.filter(member => source[member] !== undefined)
  return given.length === 1 ? undefined : `exactly one of ${members.join(', ')} must be given, not ${given.length}`
}

function cdromBreaches({ size, source }: Cdrom, i: number, own: string | undefined): Violation[] {
  const problem = memberProblem(source)
  const needsSize = source.http || source.registry || source.dataSource
  return [
    ...(problem === undefined ? [] : [breach(cdromPath(i, 'source'), problem)]),
    ...(source.blank ? [breach(cdromPath(i, 'source.blank'), 'a CD-ROM needs something to read: name an image')] : []),
    ...(size === undefined && needsSize
      ? [breach(cdromPath(i, 'size'), 'is needed for a source of http, registry or dataSource, such as 1Gi')]
      : []),
    ...(source.pvc?.namespace !== undefined && source.pvc.namespace !== own
      ? [breach(cdromPath(i, 'source.pvc.namespace'), 'a CD-ROM can only show a claim of its own namespace: leave namespace out')]
      : [])
  ]
}

export const sources: MachineRule = {
  id: 'A13',
  weight: 'refused',
  what: 'a source with none or several members; a CD-ROM that is blank, lacks a needed size, or shows a claim of another namespace',
  example: 'spec: {template: small, cdroms: [{name: tools, source: {blank: {}}}]}',
  fix: 'one member for each source; a CD-ROM needs something to read, and a size for http, registry and dataSource',
  check({ machine, merged: { disks, cdroms } }) {
    const ofDisks = breaches(
      disks,
      ({ source }) => source && memberProblem(source),
      ({ name }) => diskPath(machine, name, 'source')
    )
    return [...ofDisks, ...cdroms.flatMap((cdrom, i) => cdromBreaches(cdrom, i, machine.metadata.namespace))]
  }
}

/** The foreign namespace that a source reads from, if any. */
export function foreignNamespace(
  source: Source | undefined,
  own: string | undefined
): { member: 'pvc' | 'dataSource'; namespace: string } | undefined {
  for (const member of ['pvc', 'dataSource'] as const) {
    const namespace = source?.[member]?.namespace
    if (namespace !== undefined && namespace !== own) return { member, namespace }
  }
  return undefined
}

export const foreignSources: MachineRule = {
  id: 'A14',
  weight: 'refused',
  what: 'a source in a namespace from which the requesting user may not clone',
  example: 'spec: {template: small, disks: [{name: root, source: {pvc: {name: golden, namespace: images}}}]}',
  fix: 'ask for create on datavolumes/source (cdi.kubevirt.io) in that namespace',
  check({ machine, merged, facts: { mayCloneFrom } }) {
    if (!mayCloneFrom) return []
    const own = machine.metadata.namespace
    const problem = ({ source }: { source?: Source }): string | undefined => {
      const foreign = foreignNamespace(source, own)
      return foreign && !mayCloneFrom.has(foreign.namespace)
        ? `you may not clone from ${foreign.namespace}: create on datavolumes/source is needed there`
        : undefined
    }
    const within = (path: string, source: Source | undefined): string =>
      `${path}.${foreignNamespace(source, own)?.member}.namespace`
    return [
      ...breaches(merged.disks, problem, ({ name, source }) => within(diskPath(machine, name, 'source'), source)),
      ...breaches(merged.cdroms, problem, ({ source }, i) => within(cdromPath(i, 'source'), source))
    ]
  }
}
