// A Machine's spec with its template worked in (spec/machine.md §4). Pure.
import type { Machine } from '../schema/machine.ts'

type Spec = Machine['spec']
type GivenDisk = NonNullable<Spec['disks']>[number]
export type Cdrom = NonNullable<Spec['cdroms']>[number]
export type Nic = NonNullable<Spec['networks']>[number]
export type Source = NonNullable<GivenDisk['source']>

export interface Disk extends Pick<GivenDisk, 'name' | 'source'> {
  /** Only a container disk may do without. */
  size?: string
  storageClass: string
  accessMode: NonNullable<GivenDisk['accessMode']>
  volumeMode: NonNullable<GivenDisk['volumeMode']>
}

export interface Merged {
  cpu: { cores: number; threads: number; sockets: number }
  memory: string | undefined
  disks: Disk[]
  cdroms: readonly Cdrom[]
  networks: readonly Nic[]
}

interface Template {
  cores: number
  memory: string
  root: string
}

const templates: Readonly<Record<string, Template>> = {
  small: { cores: 1, memory: '2Gi', root: '20Gi' },
  medium: { cores: 2, memory: '4Gi', root: '40Gi' },
  large: { cores: 4, memory: '8Gi', root: '80Gi' }
}
export const templateNames = Object.keys(templates)

/** T1: absent is not unknown. */
export const isUnknownTemplate = ({ template }: Spec): boolean => template !== undefined && !Object.hasOwn(templates, template)

/** T2–T4: overrides count field by field; a disk of a template's name takes that disk's place. */
export function merge(spec: Spec): Merged {
  const template = spec.template === undefined || isUnknownTemplate(spec) ? undefined : templates[spec.template]
  const { cpu, memory } = spec.resources ?? {}
  const size = memory?.size ?? template?.memory
  return {
    cpu: { cores: cpu?.cores ?? template?.cores ?? 1, threads: cpu?.threads ?? 1, sockets: cpu?.sockets ?? 1 },
    memory: size === undefined ? undefined : String(size),
    disks: mergeDisks(template, spec.disks ?? []),
    cdroms: spec.cdroms ?? [],
    networks: spec.networks ?? []
  }
}

function mergeDisks(template: Template | undefined, given: readonly GivenDisk[]): Disk[] {
  if (!template) return given.map(disk => complete(disk))
  const root = { name: 'root', size: template.root }
  const override = given.find(({ name }) => name === root.name)
  const disks = [complete({ ...root, ...override })]
  for (const disk of given) if (disk !== override) disks.push(complete(disk))
  return disks
}

function complete({ name, size, storageClass, accessMode, volumeMode, source }: GivenDisk): Disk {
  const disk: Disk = {
    name,
    storageClass: storageClass ?? 'default',
    accessMode: accessMode ?? 'ReadWriteOnce',
    volumeMode: volumeMode ?? 'Filesystem'
  }
  if (size !== undefined) disk.size = String(size)
  if (source) disk.source = source
  return disk
}

/** S7: what CDI has to fill. */
export const needsDataVolume = (source: Source | undefined): boolean =>
  source !== undefined && source.blank === undefined && source.containerDisk === undefined
