// A broker for one test: sinks by the name of their Service.
import type { Test } from 'tap'
import { startBroker, type Broker, type BrokerOptions, type Manifest, type Sink } from '../../../shared/local/broker/index.ts'
import { eventHeaders, type Spec } from './manifests.ts'

export const ref = (name: string): Spec => ({ ref: { apiVersion: 'serving.knative.dev/v1', kind: 'Service', name } })

export async function start(
  t: Test,
  manifests: Manifest[],
  sinks: Record<string, Sink>,
  options: Omit<BrokerOptions, 'manifests' | 'resolve'> = {}
): Promise<Broker> {
  const broker = await startBroker({ manifests, resolve: of => ('name' in of ? sinks[of.name] : undefined), ...options })
  t.teardown(() => broker.close())
  return broker
}

export const send = async (
  broker: Broker,
  attributes: Record<string, string> = {},
  body: Buffer = Buffer.from('data'),
  name = 'b'
) => (await broker.send('test', name, eventHeaders(attributes), body)).status
