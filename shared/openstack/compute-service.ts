// Who disabled a compute service and why, and whether Drover may enable it again (HV-32). Pure: decide files import this.

const drover = 'drover:'
const operator = 'Hypervisor CRD: spec.maintenance='
const longestReason = 255 // Nova's column

export interface Disabling {
  /** The function, as `drover-maintenance`. */
  by: string
  /** Mode and the human's own text, as `maintenance=manual: new fans`. */
  why: string
  /** Who asked for it, when it is known. */
  askedBy?: string | undefined
}

/** `drover: maintenance=manual: new fans (asked by jane, drover-maintenance)`: the words may be cut, the mark and the writer never. */
export function disabledReason({ by, why, askedBy }: Disabling): string {
  const end = ` (${askedBy ? `asked by ${askedBy.slice(0, 100)}, ` : ''}${by})`
  const room = longestReason - drover.length - 1 - end.length
  const words = why.length <= room ? why : `${why.slice(0, Math.max(0, room - 1))}…`
  return `${drover} ${words}${end}`
}

/** Disabled by Drover, or by the operator that Drover takes over from. */
export const isOurs = (reason: string | null | undefined): boolean =>
  reason !== null && reason !== undefined && (reason.startsWith(drover) || reason.startsWith(operator))

/** The operator that Drover takes over from, for this mode. */
export const isOfOperator = (reason: string | null | undefined, mode: string): boolean => reason === `${operator}${mode}`

/** Which of Drover's functions it was; undefined for the operator's reasons and for those of others. */
export const disabledBy = (reason: string | null | undefined): string | undefined =>
  reason?.startsWith(drover) ? /(drover-[\w-]+)\)$/.exec(reason)?.[1] : undefined

/** nova.conf: enable_new_services = false */
export const isNew = (reason: string | null | undefined): boolean =>
  reason?.startsWith('New compute service disabled due to config option') ?? false

interface Service {
  status: 'enabled' | 'disabled' | 'unknown'
  disabledReason: string | null
}

/** Nobody's disabling but ours is undone, unless it was said that Drover takes over; the first enable also takes a new service. */
export function mayEnable(service: Service, { takeover, first = false }: { takeover: boolean; first?: boolean }): boolean {
  if (service.status === 'enabled' || takeover) return true
  return isOurs(service.disabledReason) || (first && isNew(service.disabledReason))
}
