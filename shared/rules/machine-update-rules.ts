// A15 and A16: what may not change once data is on a disk. Pure.
import { isDeepStrictEqual } from 'node:util'
import type { Machine } from '../schema/machine.ts'
import { parseQuantity } from '../schema/quantity.ts'
import type { Violation } from '../schema/violation.ts'
import type { MachineAsked } from './machine-facts.ts'
import { diskPath } from './machine-paths.ts'
import { merge, type Disk, type Source } from './merge.ts'
import { breach, type Rule } from './rule.ts'

export const confirmRemoval = 'vitistack.io/confirm-disk-removal'

/** S8: the disks that the user agreed to lose. */
export const confirmedRemovals = ({ metadata }: Pick<Machine, 'metadata'>): string[] =>
  (metadata.annotations?.[confirmRemoval] ?? '')
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '')

const bytes = (size: string | undefined): bigint => (size === undefined ? 0n : (parseQuantity(size) ?? 0n))

/** No source and `blank` are the same empty disk. */
const contentOf = (source: Source | undefined): Source => source ?? { blank: {} }

/** Each disk as it was, with what became of it. */
function formerDisks({ merged, old }: MachineAsked): Array<[before: Disk, after: Disk | undefined]> {
  if (!old) return []
  const now = new Map(merged.disks.map(disk => [disk.name, disk]))
  return merge(old.spec).disks.map(disk => [disk, now.get(disk.name)])
}

export const fixedDisks: Rule<MachineAsked> = {
  id: 'A15',
  weight: 'refused',
  what: 'an update that shrinks a disk, or changes its storageClass, accessMode, volumeMode or source',
  example: 'spec: {template: medium, disks: [{name: root, size: 10Gi}]}',
  fix: 'disks only grow; for another class or source add a new disk and copy the data',
  check: asked => formerDisks(asked).flatMap(([before, after]) => (after ? changes(asked.machine, before, after) : []))
}

function changes(machine: Machine, before: Disk, after: Disk): Violation[] {
  const fixed = (['storageClass', 'accessMode', 'volumeMode'] as const).filter(field => before[field] !== after[field])
  const path = (field: string) => diskPath(machine, after.name, field)
  const sameContent = isDeepStrictEqual(contentOf(before.source), contentOf(after.source))
  return [
    ...fixed.map(field => breach(path(field), `must stay ${before[field]}: a claim cannot change it; add a new disk instead`)),
    ...(bytes(after.size) < bytes(before.size)
      ? [breach(path('size'), `must not shrink below ${before.size}: disks only grow`)]
      : []),
    ...(sameContent ? [] : [breach(path('source'), 'cannot change once the disk exists: add a new disk instead')])
  ]
}

export const removedDisks: Rule<MachineAsked> = {
  id: 'A16',
  weight: 'refused',
  what: `an update that drops a disk which the annotation ${confirmRemoval} does not name`,
  example: 'spec: {template: small, disks: []}',
  fix: `name the disk in the annotation ${confirmRemoval}; its data will be lost`,
  check(asked) {
    if (!asked.old) return []
    const confirmed = new Set(confirmedRemovals(asked.machine))
    return formerDisks(asked).flatMap(([{ name, source }, after]) => {
      if (after || source?.containerDisk || confirmed.has(name)) return []
      return [breach('spec.disks', `the disk ${name} and its data would be lost: name it in the annotation ${confirmRemoval}`)]
    })
  }
}
