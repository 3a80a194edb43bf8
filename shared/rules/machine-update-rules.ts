// A15 and A16: what may not change once data is on a disk. Pure.
import { isDeepStrictEqual } from 'node:util'
import type { Machine } from '../schema/machine.ts'
import { parseQuantity } from '../schema/quantity.ts'
import type { Violation } from '../schema/violation.ts'
import { diskPath } from './machine-rules.ts'
import { merge, type Disk, type Source } from './merge.ts'

export const confirmRemoval = 'vitistack.io/confirm-disk-removal'

/** S8: the disks that the user agreed to lose. */
export const confirmedRemovals = ({ metadata }: Pick<Machine, 'metadata'>): string[] =>
  (metadata.annotations?.[confirmRemoval] ?? '').split(',').map(name => name.trim())

const bytes = (size: string | undefined): bigint => (size === undefined ? 0n : (parseQuantity(size) ?? 0n))

/** No source and `blank` are the same empty disk. */
const contentOf = (source: Source | undefined): Source => source ?? { blank: {} }

export function updateViolations(machine: Machine, old: Machine): Violation[] {
  const after = merge(machine.spec).disks
  const before = merge(old.spec).disks
  return before.flatMap(disk => {
    const now = after.find(({ name }) => name === disk.name)
    return now ? changes(machine, disk, now) : removal(machine, disk)
  })
}

function changes(machine: Machine, before: Disk, after: Disk): Violation[] {
  const fixed = (['storageClass', 'accessMode', 'volumeMode'] as const).filter(field => before[field] !== after[field])
  const path = (field: string) => diskPath(machine, after.name, field)
  return [
    ...fixed.map(field => ({ path: path(field), message: `must stay ${before[field]}: a claim cannot change it` })),
    ...(bytes(after.size) < bytes(before.size) ? [{ path: path('size'), message: `must not shrink below ${before.size}` }] : []),
    ...(isDeepStrictEqual(contentOf(before.source), contentOf(after.source)) ? [] : [{ path: path('source'), message: 'cannot change once the disk exists' }])
  ]
}

function removal(machine: Machine, { name, source }: Disk): Violation[] {
  if (source?.containerDisk || confirmedRemovals(machine).includes(name)) return []
  return [{ path: 'spec.disks', message: `the disk ${name} and its data would be lost: name it in the annotation ${confirmRemoval}` }]
}
