// What kube-state-metrics makes of an object by a configuration of custom resources: the part of it that knative/components/monitoring uses.
export type Labels = Record<string, string>
export interface Sample {
  name: string
  labels: Labels
  value: number
}

type Path = string[]
interface Each {
  path?: Path
  labelsFromPath?: Record<string, Path>
  valueFrom?: Path
  nilIsZero?: boolean
}
export interface Resource {
  groupVersionKind: { group: string; version: string; kind: string }
  labelsFromPath: Record<string, Path>
  metrics: { name: string; help: string; each: { type: 'Gauge'; gauge: Each } | { type: 'Info'; info: Each } }[]
}

const at = (from: unknown, path: Path = []): unknown =>
  path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined | null)?.[key], from)

const labelsOf = (from: unknown, paths: Record<string, Path> = {}): Labels =>
  Object.fromEntries(
    Object.entries(paths).flatMap(([label, path]) => {
      const value = at(from, path)
      return typeof value === 'string' && value !== '' ? [[label, value]] : []
    })
  )

/** As toFloat64 of kube-state-metrics reads it: words of conditions, times, numbers. */
function numberOf(value: unknown): number {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (typeof value === 'number') return value
  const text = String(value)
  if (/^(true|yes)$/i.test(text)) return 1
  if (/^(false|no|unknown)$/i.test(text)) return 0
  const number = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) / 1000 : Number(text)
  if (Number.isNaN(number)) throw new Error(`kube-state-metrics could not read ${text}`)
  return number
}

export function samplesOf(object: object, { labelsFromPath, metrics }: Resource): Sample[] {
  const base = labelsOf(object, labelsFromPath)
  return metrics.flatMap(({ name, each }) => {
    const rule = each.type === 'Gauge' ? each.gauge : each.info
    const found = at(object, rule.path)
    const items = Array.isArray(found) ? found : [found]
    return items.flatMap((item): Sample[] => {
      const labels = { ...base, ...labelsOf(item, rule.labelsFromPath) }
      const full = `kube_customresource_${name}`
      if (each.type === 'Info') return item === undefined ? [] : [{ name: full, labels, value: 1 }]
      const value = at(item, rule.valueFrom)
      if (value === undefined) return rule.nilIsZero ? [{ name: full, labels, value: 0 }] : []
      return [{ name: full, labels, value: numberOf(value) }]
    })
  })
}
