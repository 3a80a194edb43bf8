// HV-12: who set maintenance, and when, as annotations that nobody else can write. Pure.
import type { Hypervisor } from '../schema/hypervisor.ts'

export const setBy = 'kvm.cloud.sap/maintenance-set-by'
export const setAt = 'kvm.cloud.sap/maintenance-set-at'

type Stamp = Record<typeof setBy | typeof setAt, string | undefined>

const stampOf = (object: Hypervisor | undefined): Stamp => ({
  [setBy]: object?.metadata?.annotations?.[setBy],
  [setAt]: object?.metadata?.annotations?.[setAt]
})

const none: Stamp = { [setBy]: undefined, [setAt]: undefined }

/** What the annotations must say after this write: new when the mode changed, else as they were, whatever the client wrote. */
export function stampFor(object: Hypervisor, old: Hypervisor | undefined, username: string, now: Date): Stamp {
  const mode = object.spec?.maintenance || ''
  if (mode === (old?.spec?.maintenance || '')) return stampOf(old)
  return mode === '' ? none : { [setBy]: username, [setAt]: now.toISOString().replace(/\.\d+Z$/, 'Z') }
}

export interface PatchOp {
  op: 'add' | 'remove'
  path: string
  value?: unknown
}

/** The JSON patch that makes them so; empty when they are. */
export function stampPatch(object: Hypervisor, wanted: Stamp): PatchOp[] {
  const now = stampOf(object)
  const operations = ([setBy, setAt] as const).flatMap((key): PatchOp[] => {
    if (now[key] === wanted[key]) return []
    const path = `/metadata/annotations/${key.replace('/', '~1')}`
    return wanted[key] === undefined ? [{ op: 'remove', path }] : [{ op: 'add', path, value: wanted[key] }]
  })
  const needsMap = operations.some(({ op }) => op === 'add') && object.metadata?.annotations === undefined
  return needsMap ? [{ op: 'add', path: '/metadata/annotations', value: {} }, ...operations] : operations
}
