// Watches: from a version, from now, from the state as it is; what each change is told as.
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import type { Test } from 'tap'
import { matchWhole } from '../../../assert/match-whole.ts'
import { merge, widget, type Api, type Body } from './target.ts'

interface Event {
  type: string
  object: Body
}

interface Table {
  columnDefinitions: Array<{ name: string }>
  rows: unknown[]
}

/** The events of a watch, until the caller stops reading. */
export async function* events(api: Api, path: string): AsyncGenerator<Event> {
  const agent = new Agent({ ca: readFileSync(api.ca) })
  const call = request(`${api.server}${path}`, { agent, headers: { authorization: `Bearer ${api.adminToken}` } })
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) =>
      call.on('error', reject).on('response', resolve).end()
    )
    let rest = ''
    for await (const chunk of response.setEncoding('utf8')) {
      const lines = (rest + String(chunk)).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) yield JSON.parse(line) as Event
    }
  } finally {
    agent.destroy()
  }
}

const told = ({ type, object }: Event): [string, unknown] => [type, object.metadata.name]

async function take(watch: AsyncGenerator<Event>, count: number): Promise<Event[]> {
  const found: Event[] = []
  while (found.length < count) {
    const { value, done } = await watch.next()
    if (done) break
    // Of its own accord a server sends one now and then; the one that ends the initial state is told apart by an annotation.
    if (value.type === 'BOOKMARK' && value.object.metadata.annotations === undefined) continue
    found.push(value)
  }
  return found
}

export async function watching(t: Test, api: Api): Promise<void> {
  const { widgets, done, call } = api
  await done('DELETE', widgets)
  const initial = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'

  await t.test('the state as it is, a bookmark, then what happens', async t => {
    await done('POST', widgets, widget('w1'))
    await done('POST', widgets, widget('w2'))
    const watch = events(api, `${widgets}?${initial}`)
    const first = await take(watch, 3)
    t.strictSame(first.map(told), [
      ['ADDED', 'w1'],
      ['ADDED', 'w2'],
      ['BOOKMARK', undefined]
    ])
    t.match(first[2]?.object, {
      kind: 'Widget',
      apiVersion: 'contract.drover.dev/v1',
      metadata: { annotations: { 'k8s.io/initial-events-end': 'true' }, resourceVersion: /^\d+$/ }
    })
    await done('PATCH', `${widgets}/w1`, { spec: { size: 5 } }, merge)
    await done('DELETE', `${widgets}/w2`)
    const [changed, gone] = await take(watch, 2)
    t.match(changed, { type: 'MODIFIED', object: { metadata: { name: 'w1' }, spec: { size: 5 } } })
    t.match(gone, { type: 'DELETED', object: { metadata: { name: 'w2' }, spec: { color: 'red' } } })
    t.ok(
      Number(gone?.object.metadata.resourceVersion) > Number(changed?.object.metadata.resourceVersion),
      'the last state has the version of the deletion'
    )
    await watch.return(undefined)
  })

  await t.test('from the version of a list nothing is missed', async t => {
    const { metadata } = await done('GET', widgets)
    await done('POST', widgets, widget('w3'))
    const watch = events(api, `${widgets}?watch=1&resourceVersion=${metadata.resourceVersion}`)
    t.strictSame((await take(watch, 1)).map(told), [['ADDED', 'w3']])
    await watch.return(undefined)
  })

  await t.test('a selector turns changes into coming and going', async t => {
    const { metadata } = await done('GET', widgets)
    await done('PATCH', `${widgets}/w3`, { spec: { color: 'blue' } }, merge)
    await done('PATCH', `${widgets}/w3`, { spec: { size: 4 } }, merge)
    await done('PATCH', `${widgets}/w3`, { spec: { color: 'red' } }, merge)
    const watch = events(api, `${widgets}?watch=1&resourceVersion=${metadata.resourceVersion}&fieldSelector=spec.color%3Dblue`)
    const seen = await take(watch, 3)
    t.strictSame(
      seen.map(({ type }) => type),
      ['ADDED', 'MODIFIED', 'DELETED']
    )
    t.equal(seen[2]?.object.spec?.color, 'blue', 'a going object is shown as it was when it was last selected')
    await watch.return(undefined)
  })

  await t.test('a version that is too old', async t => {
    const [event] = await take(events(api, `${widgets}?watch=1&resourceVersion=1`), 1)
    t.match(event, {
      type: 'ERROR',
      object: { kind: 'Status', code: 410, reason: 'Expired', message: /^too old resource version: 1 \(\d+\)$/ }
    })
  })

  await t.test('a watch ends when it was asked to', async t => {
    const watch = events(
      api,
      `${widgets}?watch=1&timeoutSeconds=1&resourceVersion=${(await done('GET', widgets)).metadata.resourceVersion}`
    )
    t.strictSame(await take(watch, 1), [])
  })

  await t.test('a table, row by row', async t => {
    const { body } = await call(
      'GET',
      `${widgets}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Dw3`,
      undefined,
      undefined,
      { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
    )
    t.match(body, { type: 'ADDED', object: { kind: 'Table' } })
    const { columnDefinitions, rows } = (body as unknown as { object: Table }).object
    t.strictSame(
      columnDefinitions.map(({ name }) => name),
      ['Name', 'Color', 'Size', 'Ready', 'Age']
    )
    matchWhole(t, rows, [{ cells: ['w3', 'red', 4, null, /^\d+[sm]/] }])
  })

  await t.test('bad questions', async t => {
    const version = await call('GET', `${widgets}?watch=1&resourceVersion=abc`)
    t.strictSame(
      [version.status, version.body.message],
      [500, 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax']
    )
    const match = await call('GET', `${widgets}?watch=1&sendInitialEvents=true`)
    t.strictSame(
      [match.status, match.body.message],
      [
        422,
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'
      ]
    )
  })
}
