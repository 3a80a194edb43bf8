// Claims, DataVolumes, volumes and disks (spec/machine.md §5.1). Pure.
import type { Cdrom, Disk, Merged, Source } from '../../shared/rules/merge.ts'
import { needsDataVolume } from '../../shared/rules/merge.ts'
import type { Machine } from '../../shared/schema/machine.ts'
import type { ObjectMeta } from '../../shared/schema/kind.ts'
import { canonicalQuantity } from './canonical-quantity.ts'
import type { DataVolume, DiskDevice, Volume } from './kubevirt.ts'
import { childMeta, claimName } from './names.ts'
import type { RenderOptions } from './render.ts'

export interface Claim {
  metadata: ObjectMeta
  spec: {
    accessModes: string[]
    volumeMode: string
    storageClassName?: string
    resources: { requests: { storage: string } }
  }
}

/** S3: the word `default` means the cluster's default, which is said by saying nothing. */
export const isDefaultClass = (name: string, { hasClassDefault }: Pick<RenderOptions, 'hasClassDefault'>): boolean =>
  name === 'default' && !hasClassDefault

const className = (name = 'default', options: RenderOptions): { storageClassName?: string } =>
  isDefaultClass(name, options) ? {} : { storageClassName: name }

/** What a disk needs besides its place in the VM: a claim of its own, or one that CDI fills. */
export const needsClaim = ({ source }: Disk): boolean => !source?.containerDisk && !needsDataVolume(source)
const cdromNeedsDataVolume = ({ source }: Cdrom): boolean => needsDataVolume(source) && !source.pvc

export function renderClaims(machine: Machine, { disks }: Merged, options: RenderOptions): Claim[] {
  return disks.filter(needsClaim).map(disk => ({
    metadata: childMeta(machine, claimName(machine.metadata.name, disk.name)),
    spec: {
      accessModes: [disk.accessMode],
      volumeMode: disk.volumeMode,
      ...className(disk.storageClass, options),
      resources: { requests: { storage: canonicalQuantity(disk.size ?? '') } }
    }
  }))
}

/** S7: stand-alone, so that the data outlives a VM that is deleted and made again. */
export function renderDataVolumes(machine: Machine, { disks, cdroms }: Merged, options: RenderOptions): DataVolume[] {
  const { name, namespace = '' } = machine.metadata
  const requests = (size: string | number | undefined) => ({ resources: { requests: { storage: String(size ?? '') } } })
  const ofDisk = (disk: Disk): DataVolume => ({
    metadata: childMeta(machine, claimName(name, disk.name)),
    spec: {
      ...origin(disk.source ?? {}, namespace),
      storage: {
        accessModes: [disk.accessMode],
        volumeMode: disk.volumeMode,
        ...className(disk.storageClass, options),
        ...requests(disk.size)
      }
    }
  })
  const ofCdrom = (cdrom: Cdrom): DataVolume => ({
    metadata: childMeta(machine, claimName(name, cdrom.name)),
    spec: { ...origin(cdrom.source, namespace), storage: { ...className(cdrom.storageClass, options), ...requests(cdrom.size) } }
  })
  return [
    ...disks.filter(({ source }) => needsDataVolume(source)).map(ofDisk),
    ...cdroms.filter(cdromNeedsDataVolume).map(ofCdrom)
  ]
}

function origin(
  { http, registry, pvc, dataSource }: Source,
  namespace: string
): Pick<DataVolume['spec'], 'source' | 'sourceRef'> {
  if (http) return { source: { http: { url: http.url } } }
  if (registry) return { source: { registry: { url: registry.url } } }
  if (pvc) return { source: { pvc: { name: pvc.name, namespace: pvc.namespace ?? namespace } } }
  return { sourceRef: { kind: 'DataSource', name: dataSource?.name, namespace: dataSource?.namespace ?? namespace } }
}

function volumeOf(machine: Machine, name: string, source: Source | undefined): Volume {
  const claim = claimName(machine.metadata.name, name)
  if (source?.containerDisk) return { name, containerDisk: { image: source.containerDisk.image } }
  return needsDataVolume(source) ? { name, dataVolume: { name: claim } } : { name, persistentVolumeClaim: { claimName: claim } }
}

/** M4: the same order in both lists; disks first, then CD-ROMs. */
export function renderVolumes(machine: Machine, { disks, cdroms }: Merged): Volume[] {
  const ofCdrom = ({ name, source }: Cdrom): Volume =>
    source.pvc ? { name, persistentVolumeClaim: { claimName: source.pvc.name } } : volumeOf(machine, name, source)
  return [...disks.map(({ name, source }) => volumeOf(machine, name, source)), ...cdroms.map(ofCdrom)]
}

export function renderDisks({ disks, cdroms }: Merged, { architecture }: RenderOptions): DiskDevice[] {
  const ofDisk = ({ name, accessMode }: Disk): DiskDevice => ({
    name,
    disk: { bus: 'virtio', ...(accessMode === 'ReadOnlyMany' && { readonly: true }) } // S6
  })
  const bus = architecture === 'arm64' ? 'scsi' : 'sata' // K4
  return [...disks.map(ofDisk), ...cdroms.map(({ name }): DiskDevice => ({ name, cdrom: { bus, readonly: true } }))]
}
