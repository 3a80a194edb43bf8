// What knative.md §3 says of a broker, as tests of any broker: ours, and the real one.
import { request } from 'undici'
import type { Test } from 'tap'
import { answers, headers, inheritance, replies } from './contract-delivery.ts'
import { filters, refusals } from './contract-filters.ts'
import { send, type Target } from './contract-target.ts'
import { redirects, unanswered } from './contract-transport.ts'
import { eventHeaders } from './manifests.ts'

const parts: Array<[name: string, part: (t: Test, target: Target) => Promise<void>]> = [
  ['ingress: which request is answered how (§3.1)', ingress],
  ['ingress: a Trigger that fails for good (§3.1)', failure],
  ['the function: headers added, passed on, dropped (§3.2)', headers],
  ['the function: which answer is retried, and what the dead letter says (§3.2)', answers],
  ['no answer: reset, refused, too slow (§3.2)', unanswered],
  ['redirects are followed (§3.2)', redirects],
  ['replies go to the broker as new events (§3.2)', replies],
  ['delivery: what of the Broker holds for a Trigger (§3.2)', inheritance],
  ['filters (§3.3)', filters],
  ['refused manifests (§3.3)', refusals]
]

export function contract(t: Test, target: Target): void {
  for (const [name, part] of parts) void t.test(name, t => part(t, target))
}

async function ingress(t: Test, target: Target): Promise<void> {
  const sink = await target.sink(t)
  const { ingress } = await target.install(t, undefined, { t: { subscriber: { uri: sink.url } } })
  const structured = { 'content-type': 'application/cloudevents+json' }
  const event = { specversion: '1.0', id: '1', type: 'a.b', source: '/test' }
  const without = (name: string) =>
    Object.fromEntries(Object.entries(eventHeaders()).filter(([header]) => header !== `ce-${name}`))
  const root = new URL('/', ingress).href

  const cases: Array<[name: string, status: number, headers: Record<string, string>, body?: string | Buffer, url?: string]> = [
    ['binary', 202, eventHeaders()],
    ['structured', 202, structured, JSON.stringify(event)],
    ['structured with charset', 202, { 'content-type': 'application/cloudevents+json; charset=utf-8' }, JSON.stringify(event)],
    ['version 0.3', 202, eventHeaders({ specversion: '0.3' })],
    ['2 MB of data', 202, { ...eventHeaders(), 'content-type': 'application/octet-stream' }, Buffer.alloc(2 << 20)],
    ['an extension that is empty', 202, eventHeaders({ namespace: '' })],
    ['unknown broker', 404, eventHeaders(), '', `${ingress}-not`],
    ['no ce- headers', 400, { 'content-type': 'application/json' }, '{}'],
    ['no id', 400, without('id')],
    ['no type', 400, without('type')],
    ['no source', 400, without('source')],
    ['no specversion', 400, without('specversion')],
    ['empty id', 400, eventHeaders({ id: '' })],
    ['empty type', 400, eventHeaders({ type: '' })],
    ['empty source', 400, eventHeaders({ source: '' })],
    ['attribute name with -', 400, eventHeaders({ 'a-b': '1' })],
    ['batch mode', 400, { 'content-type': 'application/cloudevents-batch+json' }, JSON.stringify([event])],
    ['structured without id', 400, structured, JSON.stringify({ ...event, id: undefined })],
    ['structured, not JSON', 400, structured, '{'],
    ['path of one part', 400, eventHeaders(), '', `${root}b`],
    ['path of three parts', 400, eventHeaders(), '', `${ingress}/more`]
  ]
  for (const [name, status, headers, body, url = ingress] of cases) t.equal(await send(url, headers, body), status, name)
  t.equal(await send(ingress, {}, '', 'GET'), 405, 'GET')

  const options = await request(ingress, { method: 'OPTIONS' })
  await options.body.dump()
  t.equal(options.statusCode, 200, 'OPTIONS')
  t.match(options.headers, { 'webhook-allowed-origin': '*', 'webhook-allowed-rate': '*' })

  const nobody = await target.install(t, undefined, {
    t: { subscriber: { uri: sink.url }, filter: { attributes: { type: 'other' } } }
  })
  t.equal(await send(nobody.ingress, eventHeaders()), 202, 'no Trigger matches')
}

async function failure(t: Test, target: Target): Promise<void> {
  const failing = await target.sink(t, () => ({ status: 422 }))
  const { ingress } = await target.install(t, { delivery: { retry: 0 } }, { t: { subscriber: { uri: failing.url } } })
  const status = await send(ingress, eventHeaders())
  t.equal(
    status,
    target.storesFirst ? 202 : 500,
    'without a dead-letter sink the sender is told, unless the event was stored first'
  )
  await failing.until(1)
}
