// Filters and refused manifests (knative.md §3.3).
import type { Test } from 'tap'
import { send, type Target } from './contract-target.ts'
import { eventHeaders, type Spec } from './manifests.ts'

/** By id. */
const events: Record<string, Record<string, string>> = {
  plain: { type: 'a.b', source: '/one' },
  hypervisor: { type: 'a.b', source: '/two', subject: 'x/hv1', hypervisor: 'hv1' },
  machine: { type: 'a.c', source: '/one', sequence: '12', namespace: '' }
}

const cases: Array<[name: string, spec: Spec, matched: string[]]> = [
  ['no filter', {}, ['plain', 'hypervisor', 'machine']],
  ['attributes: equal', { filter: { attributes: { type: 'a.b', source: '/one' } } }, ['plain']],
  ["attributes: '' is any value", { filter: { attributes: { hypervisor: '' } } }, ['hypervisor']],
  ["attributes: '' wants it present", { filter: { attributes: { absent: '' } } }, []],
  ['exact', { filters: [{ exact: { type: 'a.c' } }] }, ['machine']],
  ['exact: an extension', { filters: [{ exact: { hypervisor: 'hv1' } }] }, ['hypervisor']],
  ['exact: each entry', { filters: [{ exact: { type: 'a.b', source: '/two' } }] }, ['hypervisor']],
  ['prefix', { filters: [{ prefix: { type: 'a.' } }] }, ['plain', 'hypervisor', 'machine']],
  ['prefix: missing', { filters: [{ prefix: { subject: 'x' } }] }, ['hypervisor']],
  ['suffix', { filters: [{ suffix: { source: 'one' } }] }, ['plain', 'machine']],
  ['all of the list', { filters: [{ suffix: { source: 'one' } }, { exact: { type: 'a.b' } }] }, ['plain']],
  ['filters override filter', { filter: { attributes: { type: 'none' } }, filters: [{ exact: { type: 'a.c' } }] }, ['machine']],
  ['all', { filters: [{ all: [{ exact: { type: 'a.b' } }, { exact: { source: '/one' } }] }] }, ['plain']],
  ['any', { filters: [{ any: [{ exact: { type: 'a.c' } }, { exact: { hypervisor: 'hv1' } }] }] }, ['hypervisor', 'machine']],
  ['not', { filters: [{ not: { exact: { type: 'a.b' } } }] }, ['machine']],
  ['not: missing', { filters: [{ not: { exact: { hypervisor: 'hv1' } } }] }, ['plain', 'machine']],
  ['cesql', { filters: [{ cesql: "type = 'a.b' AND subject LIKE '%hv1' AND EXISTS hypervisor" }] }, ['hypervisor']],
  ['cesql: fails at run time', { filters: [{ cesql: 'sequence > 10' }] }, ['machine']],
  ['cesql in not', { filters: [{ not: { cesql: "type LIKE '%c'" } }] }, ['plain', 'hypervisor']]
]

export async function filters(t: Test, target: Target): Promise<void> {
  const sink = await target.sink(t)
  const triggers = Object.fromEntries(cases.map(([, spec], i) => [`f${i}`, { subscriber: { uri: `${sink.url}${i}` }, ...spec }]))
  const { ingress, settled } = await target.install(t, undefined, triggers)
  for (const [id, attributes] of Object.entries(events)) t.equal(await send(ingress, eventHeaders({ id, ...attributes })), 202)
  await settled()
  for (const [i, [name, , matched]] of cases.entries()) {
    const got = sink.received.filter(({ path }) => path === `/${i}`).map(({ headers }) => headers['ce-id'])
    t.strictSame(new Set(got), new Set(matched), name)
    t.equal(got.length, matched.length, `${name}: once each`)
  }
}

const refused: Array<[name: string, spec: Spec]> = [
  ['two dialects in one entry', { filters: [{ exact: { type: 'a' }, prefix: { type: 'a' } }] }],
  ['invalid CESQL', { filters: [{ cesql: 'type = ' }] }],
  ['invalid CESQL, nested', { filters: [{ any: [{ not: { cesql: '(' } }] }] }],
  ['attribute name with a capital', { filter: { attributes: { Type: 'a' } } }],
  ['attribute name that begins with a digit', { filters: [{ exact: { '1a': 'a' } }] }],
  ['attribute name with -', { filters: [{ not: { prefix: { 'a-b': 'a' } } }] }],
  ['unknown dialect', { filters: [{ contains: { type: 'a' } }] }],
  ['delay that is not ISO 8601', { delivery: { retry: 1, backoffDelay: '2s' } }],
  ['negative retry', { delivery: { retry: -1 } }],
  ['unknown back-off', { delivery: { retry: 1, backoffPolicy: 'fast' } }],
  ['time-out of zero', { delivery: { timeout: 'PT0S' } }],
  ['unknown format', { delivery: { format: 'xml' } }],
  ['no subscriber', { subscriber: undefined }]
]

export async function refusals(t: Test, target: Target): Promise<void> {
  for (const [name, spec] of refused) {
    await t.rejects(target.install(t, undefined, { t: { subscriber: { uri: 'http://127.0.0.1:1/' }, ...spec } }), name)
  }
}
