// S4, S7: which volumes of a Machine are not ready. Pure.
import { merge, needsDataVolume } from '../../shared/rules/merge.ts'
import { claimName } from './names.ts'
import type { Reflected } from './status.ts'

export interface StorageState {
  total: number
  /** Such as `the claim web-root (Pending)`. */
  pending: string[]
}

export function storageState({
  machine,
  claims,
  dataVolumes
}: Pick<Reflected, 'machine' | 'claims' | 'dataVolumes'>): StorageState {
  const { disks, cdroms } = merge(machine.spec)
  const claimed = [
    ...disks.filter(({ source }) => !source?.containerDisk),
    ...cdroms.filter(({ source }) => needsDataVolume(source) && !source.pvc)
  ]
  const claimOf = new Map(claims.map(claim => [claim.metadata?.name, claim]))
  const volumeOf = new Map(dataVolumes.map(volume => [volume.metadata.name, volume]))
  const pending = claimed.flatMap(({ name: device }) => {
    const name = claimName(machine.metadata.name, device)
    const volume = volumeOf.get(name)
    const phase = claimOf.get(name)?.status?.phase
    if (volume && volume.status?.phase !== 'Succeeded') return [`the DataVolume ${name} (${volume.status?.phase ?? 'new'})`]
    return phase === 'Bound' ? [] : [`the claim ${name} (${phase ?? 'missing'})`]
  })
  return { total: claimed.length, pending }
}
