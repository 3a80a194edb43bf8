// What the contract suite needs of a broker: a place where manifests are applied and from where sinks are reached.
import { request } from 'undici'
import type { Test } from 'tap'
import type { Spec } from './manifests.ts'
import type { Respond, Sink } from './sinks.ts'

export interface Installed {
  /** URL of the Broker's ingress. */
  ingress: string
  namespace: string
  /** Resolves when each event that was answered is delivered, dead-lettered or dropped. */
  settled: () => Promise<void>
}

export interface Target {
  /** One Broker, and Triggers by name without `broker`. Ready when it resolves; rejects with the reason when refused. */
  install: (t: Test, broker: Spec | undefined, triggers: Record<string, Spec>) => Promise<Installed>
  /** A sink that the broker can reach. */
  sink: (t: Test, respond?: Respond) => Promise<Sink>
  /** False where the sender is answered only after all triggers are done: then a failure is told by 500. */
  storesFirst: boolean
}

/** One retry, at once. */
export const quick = { retry: 1, backoffPolicy: 'linear', backoffDelay: 'PT0.1S' }

export async function send(
  url: string,
  headers: Record<string, string>,
  body: string | Buffer = '',
  method = 'POST'
): Promise<number> {
  const answer = await request(url, { method: method as 'POST', headers, ...(method === 'POST' && { body }) })
  await answer.body.dump()
  return answer.statusCode
}
