// SinkBinding: what the named workload finds in its environment.
import type { BindingManifest } from './manifests.ts'

export interface Subject {
  kind: string
  name: string
  namespace: string
  labels?: Record<string, string>
}

export interface Bound {
  K_SINK: string
  /** JSON, or empty. */
  K_CE_OVERRIDES: string
}

/** The environment that the first fitting binding gives to a subject. */
export function findBound(
  bindings: Iterable<BindingManifest>,
  subject: Subject,
  urlOf: (binding: BindingManifest) => string
): Bound | undefined {
  for (const binding of bindings) {
    if (!binds(binding, subject)) continue
    const { ceOverrides } = binding.spec
    return { K_SINK: urlOf(binding), K_CE_OVERRIDES: ceOverrides ? JSON.stringify(ceOverrides) : '' }
  }
  return undefined
}

function binds(
  { namespace, spec: { subject } }: BindingManifest,
  { kind, name, namespace: where, labels = {} }: Subject
): boolean {
  if (subject.kind !== kind || (subject.namespace ?? namespace) !== where) return false
  if (subject.name !== undefined) return subject.name === name
  const wanted = Object.entries(subject.selector?.matchLabels ?? {})
  return wanted.length > 0 && wanted.every(([label, value]) => labels[label] === value)
}
