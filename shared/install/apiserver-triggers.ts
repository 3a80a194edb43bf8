// ApiServerSource has types of its own: for each Trigger on a change of an object, the same by those.
import { allKinds } from '../events/index.ts'
import { isFunction, type Manifest } from './manifests.ts'

const verbs = { changed: ['add', 'update'], deleted: ['delete'] } as const

/** Kinds by the middle of their type: `io.k8s.node` is a Node. */
const kindOf = (summary: string): string => /^an? (\w+) /.exec(summary)?.[1] ?? ''

export function apiserverTriggers(all: readonly Manifest[]): object[] {
  const told = new Map(allKinds.filter(({ emittedBy }) => emittedBy === 'agents/cluster').map(kind => [kind.type, kind]))
  const functions = new Set(all.filter(isFunction).map(({ metadata }) => metadata.name))
  return all
    .filter(
      ({ kind, spec }) => kind === 'Trigger' && told.has(spec.filter.attributes.type) && functions.has(spec.subscriber.ref.name)
    )
    .flatMap(({ apiVersion, kind, metadata, spec }) => {
      const { type } = spec.filter.attributes as { type: string }
      const object = kindOf(told.get(type)?.summary ?? '')
      return verbs[type.includes('.deleted.') ? 'deleted' : 'changed'].map(verb => ({
        apiVersion,
        kind,
        metadata: { ...metadata, name: `${metadata.name.replace(/-(changed|deleted)$/, '')}-ref-${verb}` },
        spec: { ...spec, filter: { attributes: { type: `dev.knative.apiserver.ref.${verb}`, kind: object } } }
      }))
    })
}
