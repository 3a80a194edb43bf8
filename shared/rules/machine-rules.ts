// A1–A14, as far as the schema cannot say them: each rule is a function of the merged Machine (spec/machine.md §9). Pure.
import { parse } from 'yaml'
import type { Machine } from '../schema/machine.ts'
import { at, type Violation } from '../schema/violation.ts'
import type { MachineFacts } from './machine-facts.ts'
import { isUnknownTemplate, needsDataVolume, templateNames, type Disk, type Merged, type Source } from './merge.ts'

export interface Checked {
  machine: Machine
  merged: Merged
  facts: MachineFacts
}
export type Rule = (checked: Checked) => Violation[]

const wrong = (path: string, message: string): Violation => ({ path, message })
const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const maxClaimName = 253
const maxSecretBytes = 1024 * 1024

/** Where the user wrote this disk; one that only the template has is told at the list. */
export function diskPath({ spec }: Machine, name: string, field = ''): string {
  const index = spec.disks?.findIndex(disk => disk.name === name) ?? -1
  const path = index < 0 ? 'spec.disks' : at('spec.disks', index)
  return field === '' || index < 0 ? path : at(path, field)
}
const cdromPath = (index: number, field: string): string => at(at('spec.cdroms', index), field)

export const unknownTemplate: Rule = ({ machine: { spec } }) =>
  isUnknownTemplate(spec) ? [wrong('spec.template', `there is no template ${spec.template}: choose ${templateNames.join(', ')}`)] : []

const sizes: Rule = ({ machine, merged }) => [
  ...(merged.memory === undefined ? [wrong('spec.resources.memory.size', 'is required without a template')] : []),
  ...merged.disks
    .filter(({ size, source }) => size === undefined && !source?.containerDisk)
    .map(({ name }) => wrong(diskPath(machine, name, 'size'), `the disk ${name} needs a size`))
]

const names: Rule = ({ machine, merged }) => {
  const { name } = machine.metadata
  const tooLong = (device: string) => `${name}-${device}`.length > maxClaimName
  return [
    ...(name.length > 63 || !label.test(name) ? [wrong('metadata.name', 'must be a DNS label of at most 63 characters')] : []),
    ...merged.disks.filter(disk => tooLong(disk.name)).map(disk => wrong(diskPath(machine, disk.name, 'name'), 'makes the name of the claim too long'))
  ]
}

/** The schema compares what was written; the template's own disk is known only here. */
const templateDiskTwice: Rule = ({ machine: { spec }, merged }) =>
  merged.cdroms.flatMap(({ name }, i) => {
    const inTemplate = merged.disks.some(disk => disk.name === name) && !spec.disks?.some(disk => disk.name === name)
    return inTemplate ? [wrong(cdromPath(i, 'name'), `the template has a disk ${name}`)] : []
  })

const cpu: Rule = ({ merged: { cpu }, facts }) => [
  ...(cpu.cores * cpu.threads * cpu.sockets > 512 ? [wrong('spec.resources.cpu', 'cores x threads x sockets must not exceed 512')] : []),
  ...(cpu.threads > 1 && facts.architecture === 'arm64' ? [wrong('spec.resources.cpu.threads', 'must be 1 on arm64')] : [])
]

const readOnlyDisks: Rule = ({ machine, merged: { disks } }) =>
  disks.flatMap((disk, i) => {
    if (disk.accessMode !== 'ReadOnlyMany') return []
    const path = diskPath(machine, disk.name, 'accessMode')
    if (i === 0) return [wrong(path, 'the first disk must be writable')]
    return needsDataVolume(disk.source) ? [wrong(path, 'a disk that is filled from a source must be writable')] : []
  })

const bootClasses: Rule = ({ machine: { spec }, merged }) => {
  // without a list there still is the card on the pod network (N1)
  const devices = { disk: merged.disks.length, cdrom: merged.cdroms.length, network: Math.max(merged.networks.length, 1) }
  return (spec.bootOrder ?? []).flatMap((entry, i) => (devices[entry] === 0 ? [wrong(at('spec.bootOrder', i), `there is no ${entry} to boot from`)] : []))
}

function parses(text: string): boolean {
  try {
    parse(text, { logLevel: 'silent' })
    return true
  } catch {
    return false
  }
}

const cloudInit: Rule = ({ machine: { spec } }) => {
  const { userData = '', networkData = '' } = spec.cloudInit ?? {}
  const oversized = (['userData', 'networkData'] as const).filter(field => Buffer.byteLength(spec.cloudInit?.[field] ?? '') > 512 * 1024)
  const total = Buffer.byteLength(userData) + Buffer.byteLength(networkData)
  return [
    ...oversized.map(field => wrong(`spec.cloudInit.${field}`, 'must not exceed 512 KiB')),
    ...(total > maxSecretBytes ? [wrong('spec.cloudInit', 'user data and network data together must not exceed 1 MiB')] : []),
    ...(parses(networkData) ? [] : [wrong('spec.cloudInit.networkData', 'is neither YAML nor JSON')])
  ]
}

const firmware: Rule = ({ machine: { spec }, facts }) => {
  const { machine, features, firmware } = spec.domain ?? {}
  const { efi, secureBoot } = firmware?.bootloader ?? {}
  const type = machine?.type
  const q35 = type === undefined ? facts.architecture === 'amd64' : /^(pc-)?q35/.test(type)
  const usesEfi = efi === true || secureBoot === true || facts.architecture === 'arm64'
  return [
    ...(secureBoot && !q35 ? [wrong('spec.domain.firmware.bootloader.secureBoot', 'needs a machine type of the q35 family')] : []),
    ...(usesEfi && features?.acpi === false ? [wrong('spec.domain.features.acpi', 'EFI needs ACPI')] : [])
  ]
}

const machineType: Rule = ({ machine: { spec }, facts }) => {
  const type = spec.domain?.machine?.type
  const path = 'spec.domain.machine.type'
  if (type === undefined || !(type === 'pc' || type.startsWith('pc-i440fx'))) return []
  if (!facts.allowI440fx) return [wrong(path, `${type} is not allowed here: use q35`)]
  return type === 'pc' || /^pc-i440fx-./.test(type) ? [] : [wrong(path, 'pc-i440fx needs a version, such as pc-i440fx-9.0')]
}

const onePodNetwork: Rule = ({ merged: { networks }, facts }) => {
  const onPod = networks.flatMap(({ networkName }, i) => {
    const found = facts.network(networkName)
    return found.known && found.value?.spec.podNetwork ? [i] : []
  })
  return onPod.slice(1).map(i => wrong(at(at('spec.networks', i), 'networkName'), 'another card is on the pod network already'))
}

const cdromClaims: Rule = ({ machine, merged: { cdroms } }) =>
  cdroms.flatMap(({ source }, i) => {
    const { namespace = machine.metadata.namespace } = source.pvc ?? {}
    if (!source.pvc || namespace === machine.metadata.namespace) return []
    return [wrong(cdromPath(i, 'source.pvc.namespace'), 'a CD-ROM can only show a claim of its own namespace')]
  })

const foreignSources: Rule = ({ machine, merged, facts: { mayCloneFrom } }) => {
  if (!mayCloneFrom) return []
  const check = (source: Source | undefined, path: string): Violation[] => {
    const member = source?.pvc ? 'pvc' : 'dataSource'
    const namespace = source?.[member]?.namespace ?? machine.metadata.namespace ?? ''
    if (!source?.[member] || namespace === machine.metadata.namespace || mayCloneFrom.has(namespace)) return []
    return [wrong(`${path}.source.${member}.namespace`, `you may not clone from ${namespace}: create on datavolumes/source is needed there`)]
  }
  const ofDisk = ({ name, source }: Disk) => check(source, diskPath(machine, name))
  return [...merged.disks.flatMap(ofDisk), ...merged.cdroms.flatMap(({ source }, i) => check(source, at('spec.cdroms', i)))]
}

/** By the number of the specification. A3, A11 and A13 are in the schema but for what is noted at the rule. */
export const rules: Readonly<Record<string, readonly Rule[]>> = {
  A1: [unknownTemplate, sizes],
  A2: [names],
  A3: [templateDiskTwice],
  A5: [cpu],
  A6: [readOnlyDisks],
  A7: [bootClasses],
  A8: [cloudInit],
  A9: [firmware],
  A10: [machineType],
  A12: [onePodNetwork],
  A13: [cdromClaims],
  A14: [foreignSources]
}
