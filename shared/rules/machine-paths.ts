// Where in a Machine something was written, for whoever has to mend it. Pure.
import type { Machine } from '../schema/machine.ts'
import { at } from '../schema/violation.ts'

/** Where the user wrote this disk; one that only the template has is told at the list. */
export function diskPath({ spec }: Machine, name: string, field = ''): string {
  const index = spec.disks?.findIndex(disk => disk.name === name) ?? -1
  if (index < 0) return 'spec.disks'
  const path = at('spec.disks', index)
  return field === '' ? path : at(path, field)
}

export const cdromPath = (index: number, field: string): string => at(at('spec.cdroms', index), field)
export const networkPath = (index: number, field: string): string => at(at('spec.networks', index), field)
