// How each function is called by hand: a CloudEvent to its address, as a Trigger would bring it.
import { isFunction, type Manifest } from './manifests.ts'

export interface Call {
  name: string
  namespace: string
  type: string
  extensions: Record<string, string>
}

/** The tick where a function takes it, which needs no object; else the first type that is brought to it. */
export function callsOf(all: readonly Manifest[]): Call[] {
  return all.filter(isFunction).flatMap(({ metadata: { name, namespace = 'drover' } }) => {
    const taken = all
      .filter(({ kind, spec }) => kind === 'Trigger' && spec.subscriber.ref.name === name)
      .map(({ spec }) => spec.filter.attributes.type as string)
    const type = taken.find(one => one === 'dev.knative.sources.ping') ?? taken.sort()[0]
    if (type === undefined) return []
    return [{ name, namespace, type, extensions: type === 'dev.knative.sources.ping' ? { tick: 'slow' } : {} }]
  })
}

export function curl({ name, namespace, type, extensions }: Call, url = `http://${name}.${namespace}.svc.cluster.local`): string {
  const headers = { specversion: '1.0', id: '1', source: '/by-hand', type, ...extensions }
  const given = Object.entries(headers).map(([key, value]) => `-H 'ce-${key}: ${value}'`)
  return `curl -sS -o /dev/null -w '%{http_code}\\n' ${url} -H 'content-type: application/json' ${given.join(' ')} -d '{"tick":"slow"}'`
}

export const callTable = (all: readonly Manifest[]): string =>
  callsOf(all)
    .filter(({ type }) => type === 'dev.knative.sources.ping')
    .map(call => `    ${curl(call)}`)
    .join('\n')
