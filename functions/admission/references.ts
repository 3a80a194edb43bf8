// What a Machine refers to that must be asked for, not looked up. Pure, and patient with objects that are not what they should be.
import type { Machine } from '../../shared/schema/machine.ts'

/** W5: the Secret that would be read; inline user data wins over it. */
export function secretName({ spec }: Machine): string | undefined {
  const { userData, secretRef } = spec?.cloudInit ?? {}
  return userData === undefined && typeof secretRef?.name === 'string' ? secretRef.name : undefined
}

/** A14: namespaces other than its own that disks or CD-ROMs are made from. */
export function foreignNamespaces({ metadata, spec }: Machine): Set<string> {
  const found = new Set<string>()
  for (const list of [spec?.disks, spec?.cdroms]) {
    if (!Array.isArray(list)) continue
    for (const device of list) {
      for (const from of [device?.source?.pvc?.namespace, device?.source?.dataSource?.namespace])
        if (typeof from === 'string' && from !== metadata.namespace) found.add(from)
    }
  }
  return found
}
