// How each function is called by hand: a CloudEvent to its address, as a Trigger would bring it.
import { isFunction, type Manifest } from './manifests.ts'

export interface Call {
  name: string
  namespace: string
  type: string
  extensions: Record<string, string>
  data: object
}

const ping = 'dev.knative.sources.ping'
const tick = { type: ping, extensions: { tick: 'slow' }, data: { tick: 'slow' } }

/** The tick where a function takes it, which needs no object; else the first type that is brought to it; a dead-letter sink takes any. */
export function callsOf(all: readonly Manifest[]): Call[] {
  const triggers = all.filter(({ kind }) => kind === 'Trigger')
  const sinks = new Set(triggers.map(({ spec }) => spec.delivery.deadLetterSink.ref.name as string))
  return all.filter(isFunction).flatMap(({ metadata: { name, namespace = 'drover' } }) => {
    const taken = triggers
      .filter(({ spec }) => spec.subscriber.ref.name === name)
      .map(({ spec }) => spec.filter.attributes.type as string)
    if (taken.includes(ping)) return [{ name, namespace, ...tick }]
    const type = taken.sort()[0] ?? (sinks.has(name) ? 'by.hand' : undefined)
    return type === undefined ? [] : [{ name, namespace, type, extensions: {}, data: {} }]
  })
}

export function curl(
  { name, namespace, type, extensions, data }: Call,
  url = `http://${name}.${namespace}.svc.cluster.local`
): string {
  const headers = { specversion: '1.0', id: '1', source: '/by-hand', type, ...extensions }
  const given = Object.entries(headers).map(([key, value]) => `-H 'ce-${key}: ${value}'`)
  const body = JSON.stringify(data)
  return `curl -sS -o /dev/null -w '%{http_code}\\n' ${url} -H 'content-type: application/json' ${given.join(' ')} -d '${body}'`
}

export const callTable = (all: readonly Manifest[]): string =>
  callsOf(all)
    .map(call => `    ${curl(call)}`)
    .join('\n')
