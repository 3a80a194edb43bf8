import t from 'tap'
import { Type } from 'typebox'
import type { EventKind } from '../../shared/events/kind.ts'
import { hypervisorChanged, hypervisorDeleted, nodeChanged } from '../../shared/events/objects.ts'
import { on, Refused, type Reaction, type Received } from '../../shared/runtime/function.ts'
import { receiver, type Answer } from '../../shared/runtime/receive.ts'
import { matchWhole } from '../assert/match-whole.ts'
import { eventRequest, testPlatform } from './platform.ts'

const node = { apiVersion: 'v1', kind: 'Node', name: 'n1' }
const never = new Promise<never>(() => {})
const secret = 'canary-5b1f'
const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

/** A function that answers each event by the name of its object. */
const behaving: Reaction = on(nodeChanged, { changed: ['labels', 'created'] }, async ({ data }) => {
  if (data.name === 'refused') throw new Refused('no such host')
  if (data.name === 'long') throw new Refused('é'.repeat(2000))
  if (data.name === 'failing') throw new Error(secret)
})

const build = (reactions: Reaction[] = [behaving], deps: unknown = {}) => {
  const platform = testPlatform()
  return { receive: receiver({ name: 'f', reactions }, deps, platform), platform }
}

const answers: Array<[name: string, status: number, data: unknown, attributes?: Record<string, string>, type?: string]> = [
  ['handled', 204, node, { changed: 'labels' }],
  ['handled when the sender cannot say what changed', 204, node],
  ['nothing that matters', 204, node, { changed: 'conditions,status' }],
  ['refused by the handler', 422, { ...node, name: 'refused' }],
  ['refused at length', 422, { ...node, name: 'long' }],
  ['data that does not fit the kind', 422, { name: 7 }],
  ['no data', 422, null],
  ['a type nobody reacts to', 422, node, {}, 'other.type'],
  [
    'an ApiServerSource event of a kind nobody reacts to',
    422,
    node,
    { kind: 'Pod', name: 'p', apiversion: 'v1' },
    'dev.knative.apiserver.ref.add'
  ],
  ['an ApiServerSource event without a kind', 422, node, {}, 'dev.knative.apiserver.ref.add'],
  ['failing', 503, { ...node, name: 'failing' }]
]
for (const [name, status, data, attributes = {}, type = nodeChanged.type] of answers) {
  t.test(`${status}: ${name}`, async t => {
    const { receive, platform } = build()
    const answer = await receive(eventRequest(type, data, attributes))
    t.equal(answer.status, status)
    if (status === 204) t.equal(answer.body, undefined, 'an empty body')
    else t.ok(answer.body && Buffer.byteLength(answer.body) < 512, 'a short text')
    t.notMatch(answer.body, secret, 'an unexpected error is not told to the sender')
    matchWhole(t, platform.lines(), [{ id: 'e1', type, status, ms: Number }], 'one line')
  })
}

t.test('an event that does not matter is acknowledged while the dependencies are still opening', async t => {
  const { receive } = build([behaving], never)
  t.strictSame(await receive(eventRequest(nodeChanged.type, node, { changed: 'status' })), { status: 204 })
})

t.test('dependencies that cannot be opened: 503', async t => {
  const failed = Promise.reject(new Error('no cluster'))
  failed.catch(() => {})
  t.equal((await build([behaving], failed).receive(eventRequest(nodeChanged.type, node))).status, 503)
})

t.test('the same event twenty times at once: every one handled, never two together', async t => {
  let running = 0
  let most = 0
  let handled = 0
  const slow = on(nodeChanged, async () => {
    most = Math.max(most, ++running)
    await new Promise(resolve => setImmediate(resolve))
    running--
    handled++
  })
  const { receive } = build([slow])
  const same = Array.from({ length: 20 }, () => receive(eventRequest(nodeChanged.type, node, { subject: 'n1' })))
  t.ok((await Promise.all(same)).every(({ status }) => status === 204))
  t.strictSame({ most, handled }, { most: 1, handled: 20 })
  await Promise.all(['a', 'b', 'c'].map(subject => receive(eventRequest(nodeChanged.type, node, { subject }))))
  t.equal(most, 3, 'different objects run side by side')
})

t.test('events of one partition key wait for each other, whatever their subject', async t => {
  const keys: string[] = []
  const { receive, platform } = build([
    on(nodeChanged, { key: event => `host ${event.data.name}` }, async () => {}),
    on(hypervisorChanged, async () => {})
  ])
  await receive(eventRequest(nodeChanged.type, node, { partitionkey: 'p' }))
  await receive(eventRequest(hypervisorChanged.type, node, { partitionkey: 'p', subject: 's' }))
  await receive(eventRequest(hypervisorChanged.type, node, { subject: 's' }))
  await receive(eventRequest(hypervisorChanged.type, node))
  for (const { key } of platform.lines()) keys.push(String(key))
  t.strictSame(keys, ['host n1', 'p', 's', 'e1'])
})

t.test('a batch: all are processed, the worst decides', async t => {
  const batch = (...names: string[]): Promise<Answer> => {
    const events = names.map((name, i) => ({
      specversion: '1.0',
      id: `${i}`,
      source: '/s',
      type: nodeChanged.type,
      data: { ...node, name }
    }))
    return receive({
      headers: { 'content-type': 'application/cloudevents-batch+json' },
      body: Buffer.from(JSON.stringify(events))
    })
  }
  const { receive, platform } = build()
  t.strictSame(await batch(), { status: 204 })
  t.strictSame(await batch('a', 'b'), { status: 204 })
  t.equal((await batch('refused', 'a')).status, 422)
  t.equal((await batch('failing', 'refused', 'a')).status, 503)
  t.equal(platform.lines().length, 7)
})

t.test('ApiServerSource speaks of the same objects', async t => {
  const seen: Received[] = []
  const keep = (kind: EventKind) => on(kind, async event => void seen.push(event))
  const { receive } = build([keep(hypervisorChanged), keep({ ...hypervisorDeleted, data: Type.Object({ name: Type.String() }) })])
  const attributes = { kind: 'Hypervisor', name: 'hv1', namespace: '', apiversion: 'kvm.cloud.sap/v1' }
  for (const verb of ['resource.add', 'ref.update', 'ref.delete']) {
    t.equal((await receive(eventRequest(`dev.knative.apiserver.${verb}`, { huge: secret }, attributes))).status, 204)
  }
  t.strictSame(
    seen.map(({ type }) => type),
    [hypervisorChanged.type, hypervisorChanged.type, hypervisorDeleted.type]
  )
  for (const { data, changed } of seen)
    t.strictSame(
      { data, changed },
      { data: { apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor', name: 'hv1' }, changed: undefined }
    )
})

t.test('the log has the trace and never the data', async t => {
  let told: string | undefined
  const { receive, platform } = build([
    on(nodeChanged, async (_event, _deps, call) => {
      told = call.traceparent
      call.log.info('working')
    })
  ])
  await receive(eventRequest(nodeChanged.type, { ...node, uid: secret }, { traceparent: trace, subject: 'n1' }))
  await receive(eventRequest(nodeChanged.type, { ...node, uid: { secret } }))
  await receive({ headers: eventRequest(nodeChanged.type, null).headers, body: Buffer.from(`{"${secret}`) })
  t.equal(told, trace)
  matchWhole(t, platform.lines(), [
    { msg: 'working', event: 'e1', trace_id: trace.slice(3, 35) },
    { id: 'e1', subject: 'n1', key: 'n1', outcome: 'done', status: 204, trace_id: trace.slice(3, 35) },
    { outcome: 'refused', status: 422, reason: /^data\/uid / },
    { outcome: 'malformed', status: 400 }
  ])
  t.notMatch(platform.text(), secret)
})

t.test('metrics by function, type and outcome; a sender cannot make new series', async t => {
  const { receive, platform } = build()
  for (const type of ['made.up.1', 'made.up.2']) await receive(eventRequest(type, {}))
  await receive(eventRequest(nodeChanged.type, node))
  const text = await platform.metrics.metrics()
  t.match(text, 'drover_events_total{function="f",type="unknown",outcome="refused"} 2')
  t.match(text, `drover_events_total{function="f",type="${nodeChanged.type}",outcome="done"} 1`)
  t.match(text, 'drover_events_running{function="f"} 0')
  t.match(text, `drover_event_seconds_count{function="f",type="${nodeChanged.type}"} 1`)
  t.match(text, `drover_event_seconds_bucket{le="+Inf",function="f",type="${nodeChanged.type}"} 1`)
  t.match(text, 'drover_event_seconds_count{function="f",type="unknown"} 2')
  t.notMatch(text, 'made.up')
  t.doesNotThrow(() => receiver({ name: 'g', reactions: [] }, {}, platform), 'functions may share a registry')
})

t.test('two reactions to one type are a mistake of the program', async t => {
  t.throws(() => build([behaving, behaving]), /two reactions/)
})
