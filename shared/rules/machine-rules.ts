// A1–A8: template, names, sizes, CPU, disks, boot order, cloud-init (spec/machine.md §9). Each rule asks about the merged Machine. Pure.
import { parseDocument } from 'yaml'
import { fromWhole, parseQuantity } from '../schema/quantity.ts'
import { at } from '../schema/violation.ts'
import type { MachineAsked } from './machine-facts.ts'
import { cdromPath, diskPath, networkPath } from './machine-paths.ts'
import { isUnknownTemplate, needsDataVolume, templateNames, type Disk } from './merge.ts'
import { breach, breaches, type Rule } from './rule.ts'

type MachineRule = Rule<MachineAsked>

const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const isLabel = (name: string): boolean => name.length <= 63 && label.test(name)
const nameProblem = ({ name }: { name: string }): string | undefined =>
  isLabel(name) ? undefined : 'must be a DNS label: lower-case letters, digits and -, at most 63 of them'
const maxClaimName = 253
const maxPayloadBytes = 512 * 1024
const maxSecretBytes = 1024 * 1024
const mebibyte = fromWhole(1024n * 1024n)

export const templates: MachineRule = {
  id: 'A1',
  weight: 'refused',
  what: 'an unknown template, or none and then not all of cpu.cores, memory.size and a disk with a size',
  example: 'spec: {template: huge}',
  fix: `choose ${templateNames.join(', ')}, or leave template out and say cores, memory and one disk with its size`,
  check({ machine: { spec }, merged }) {
    if (isUnknownTemplate(spec))
      return [breach('spec.template', `there is no template ${spec.template}: choose ${templateNames.join(', ')}`)]
    if (spec.template !== undefined) return []
    const { cpu, memory } = spec.resources ?? {}
    return [
      ...(cpu?.cores === undefined
        ? [breach('spec.resources.cpu.cores', 'is required without a template: say cores or choose a template')]
        : []),
      ...(memory?.size === undefined
        ? [breach('spec.resources.memory.size', 'is required without a template, such as 4Gi')]
        : []),
      ...(merged.disks.some(({ size }) => size !== undefined)
        ? []
        : [breach('spec.disks', 'without a template a disk with a size is required')])
    ]
  }
}

export const names: MachineRule = {
  id: 'A2',
  weight: 'refused',
  what: 'a name that is no DNS label or is reserved, or that makes the name of a claim too long',
  example: 'spec: {disks: [{name: cloudinitdisk, size: 1Gi}]}',
  fix: 'lower-case letters, digits and -, at most 63 of them, and not cloudinitdisk',
  check({ machine, merged }) {
    const { name } = machine.metadata
    const ofVolume = (volume: { name: string }): string | undefined => {
      if (volume.name === 'cloudinitdisk') return 'cloudinitdisk is reserved: choose another name'
      const tooLong = name.length + 1 + volume.name.length > maxClaimName
      return (
        nameProblem(volume) ??
        (tooLong ? `makes the name of the claim longer than ${maxClaimName}: choose a shorter one` : undefined)
      )
    }
    return [
      ...(isLabel(name)
        ? []
        : [
            breach('metadata.name', 'must be a DNS label of at most 63 characters, since the virtual machine is called the same')
          ]),
      ...breaches(merged.disks, ofVolume, disk => diskPath(machine, disk.name, 'name')),
      ...breaches(merged.cdroms, ofVolume, (_, i) => cdromPath(i, 'name')),
      ...breaches(merged.networks, nameProblem, (_, i) => networkPath(i, 'name'))
    ]
  }
}

/** The entries whose key another one before them has. */
function twice<T>(entries: readonly T[], what: string, keyOf: (entry: T) => string | undefined, path: (index: number) => string) {
  if (entries.length < 2) return []
  const seen = new Set<string>()
  const problem = (entry: T): string | undefined => {
    const key = keyOf(entry)
    if (key === undefined) return undefined
    if (seen.has(key)) return `${what} ${key} occurs twice: each must be given once`
    seen.add(key)
    return undefined
  }
  return breaches(entries, problem, (_, i) => path(i))
}
const nameOf = ({ name }: { name: string }): string => name

export const duplicates: MachineRule = {
  id: 'A3',
  weight: 'refused',
  what: 'a disk, CD-ROM, network card, MAC address or boot class that occurs twice',
  example: 'spec: {template: small, cdroms: [{name: root, source: {containerDisk: {image: tools}}}]}',
  fix: 'give each its own name; the template brings a disk called root',
  check({ machine: { spec }, merged }) {
    const { disks, cdroms, networks } = merged
    const diskNames = new Set(cdroms.length === 0 ? [] : disks.map(nameOf))
    return [
      ...twice(spec.disks ?? [], 'the disk', nameOf, i => at('spec.disks', i)),
      ...twice(cdroms, 'the CD-ROM', nameOf, i => at('spec.cdroms', i)),
      ...twice(networks, 'the network card', nameOf, i => at('spec.networks', i)),
      ...twice(
        networks,
        'the MAC address',
        ({ macAddress }) => macAddress?.toLowerCase(),
        i => networkPath(i, 'macAddress')
      ),
      ...twice(
        spec.bootOrder ?? [],
        'the boot class',
        entry => entry,
        i => at('spec.bootOrder', i)
      ),
      ...breaches(
        cdroms,
        ({ name }) => (diskNames.has(name) ? `there is a disk ${name} already: choose another name` : undefined),
        (_, i) => cdromPath(i, 'name')
      )
    ]
  }
}

const positive = (size: string | number | undefined): boolean => size === undefined || (parseQuantity(size) ?? 0n) > 0n

function sizeProblem({ name, size, source }: Disk): string | undefined {
  if (size === undefined) return source?.containerDisk ? undefined : `the disk ${name} needs a size, such as 20Gi`
  return positive(size) ? undefined : 'must be greater than zero, such as 20Gi'
}

export const quantities: MachineRule = {
  id: 'A4',
  weight: 'refused',
  what: 'a quantity, choice or range of the schema that is broken; memory that is not a whole number of MiB; a disk without a size',
  example: 'spec: {template: small, resources: {memory: {size: 1500k}}}',
  fix: 'sizes above zero such as 20Gi; memory in whole MiB',
  check({ machine, merged }) {
    const { memory } = merged
    const size = memory === undefined ? undefined : parseQuantity(memory)
    const wholeMebibytes = size === undefined || (size % mebibyte === 0n && size / mebibyte < 8589934592n)
    const sizePath = 'spec.resources.memory.size'
    return [
      ...(positive(memory) ? [] : [breach(sizePath, 'must be greater than zero, such as 4Gi')]),
      ...(wholeMebibytes ? [] : [breach(sizePath, 'must be a whole number of MiB, such as 4Gi or 1536Mi')]),
      ...breaches(merged.disks, sizeProblem, disk => diskPath(machine, disk.name, 'size')),
      ...breaches(
        merged.cdroms,
        cdrom => (positive(cdrom.size) ? undefined : 'must be greater than zero, such as 1Gi'),
        (_, i) => cdromPath(i, 'size')
      )
    ]
  }
}

export const cpu: MachineRule = {
  id: 'A5',
  weight: 'refused',
  what: 'more than 512 virtual CPUs, or threads on arm64',
  example: 'spec: {template: small, resources: {cpu: {cores: 256, sockets: 4}}}',
  fix: 'keep cores × threads × sockets at 512 or below; threads: 1 on arm64',
  check: ({ merged: { cpu }, facts }) => [
    ...(cpu.cores * cpu.threads * cpu.sockets > 512
      ? [
          breach(
            'spec.resources.cpu',
            `cores x threads x sockets is ${cpu.cores * cpu.threads * cpu.sockets} and must not exceed 512`
          )
        ]
      : []),
    ...(cpu.threads > 1 && facts.architecture === 'arm64' ? [breach('spec.resources.cpu.threads', 'must be 1 on arm64')] : [])
  ]
}

export const readOnlyDisks: MachineRule = {
  id: 'A6',
  weight: 'refused',
  what: 'ReadOnlyMany on the first disk, or on a disk that is filled from a source',
  example: 'spec: {template: small, disks: [{name: root, accessMode: ReadOnlyMany}]}',
  fix: 'use ReadWriteOnce or ReadWriteMany there; ReadOnlyMany is for further, already filled disks',
  check: ({ machine, merged: { disks } }) =>
    breaches(
      disks,
      ({ accessMode, source }, i) => {
        if (accessMode !== 'ReadOnlyMany') return undefined
        if (i === 0) return 'the first disk must be writable: use ReadWriteOnce or ReadWriteMany'
        return needsDataVolume(source)
          ? 'a disk that is filled from a source must be writable: use ReadWriteOnce or ReadWriteMany'
          : undefined
      },
      disk => diskPath(machine, disk.name, 'accessMode')
    )
}

export const bootClasses: MachineRule = {
  id: 'A7',
  weight: 'refused',
  what: 'a boot class without a device',
  example: 'spec: {template: small, bootOrder: [cdrom, disk]}',
  fix: 'add such a device or leave the class out',
  check({ machine: { spec }, merged }) {
    // without a list there still is the card on the pod network (N1)
    const devices = { disk: merged.disks.length, cdrom: merged.cdroms.length, network: Math.max(merged.networks.length, 1) }
    return breaches(
      spec.bootOrder ?? [],
      entry => (devices[entry] === 0 ? `there is no ${entry} to boot from: add one or leave the class out` : undefined),
      (_, i) => at('spec.bootOrder', i)
    )
  }
}

const parses = (text: string): boolean => text === '' || parseDocument(text).errors.length === 0

export const cloudInit: MachineRule = {
  id: 'A8',
  weight: 'refused',
  what: 'cloud-init data that is too large, or network data that is neither YAML nor JSON',
  example: 'spec: {template: small, cloudInit: {networkData: "version: [2"}}',
  fix: 'at most 512 KiB each and 1 MiB together; keep large files out of user data and fetch them at boot',
  check({ machine: { spec } }) {
    if (!spec.cloudInit) return []
    const { userData = '', networkData = '' } = spec.cloudInit
    const sizes = { userData: Buffer.byteLength(userData), networkData: Buffer.byteLength(networkData) }
    const oversized = (['userData', 'networkData'] as const).filter(field => sizes[field] > maxPayloadBytes)
    return [
      ...oversized.map(field =>
        breach(`spec.cloudInit.${field}`, 'must not exceed 512 KiB: let the guest fetch large files at boot')
      ),
      ...(sizes.userData + sizes.networkData > maxSecretBytes
        ? [breach('spec.cloudInit', 'user data and network data together must not exceed 1 MiB')]
        : []),
      ...(sizes.networkData > maxPayloadBytes || parses(networkData)
        ? []
        : [breach('spec.cloudInit.networkData', 'is neither YAML nor JSON: write network-config version 1 or 2')])
    ]
  }
}
