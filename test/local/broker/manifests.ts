// Knative documents for tests.
import type { Manifest } from '../../../shared/local/broker/index.ts'

export type Spec = Record<string, unknown>

const of = (apiVersion: string, kind: string, name: string, spec: Spec | undefined, namespace: string): Manifest => ({
  file: `knative/${name}.yaml`,
  doc: { apiVersion, kind, metadata: { name, namespace }, ...(spec && { spec }) }
})

export const broker = (name: string, spec?: Spec, namespace = 'test'): Manifest =>
  of('eventing.knative.dev/v1', 'Broker', name, spec, namespace)

export const trigger = (name: string, spec: Spec, namespace = 'test'): Manifest =>
  of('eventing.knative.dev/v1', 'Trigger', name, { broker: 'b', ...spec }, namespace)

export const pingSource = (name: string, spec: Spec): Manifest => of('sources.knative.dev/v1', 'PingSource', name, spec, 'test')

export const sinkBinding = (name: string, spec: Spec): Manifest => of('sources.knative.dev/v1', 'SinkBinding', name, spec, 'test')

/** Headers of a binary event. */
export const eventHeaders = (attributes: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries({ specversion: '1.0', id: '1', type: 'a.b', source: '/test', ...attributes }).map(([name, value]) => [
      `ce-${name}`,
      value
    ])
  )
