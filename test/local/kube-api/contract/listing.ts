// Lists: selectors, chunks, versions, and the forms in which they come.
import type { Test } from 'tap'
import { matchWhole } from '../../../assert/match-whole.ts'
import { runCase, widget, type Api, type Body, type Case } from './target.ts'

const names = ({ items = [] }: Body): unknown[] => items.map(({ metadata }) => metadata.name)

const selections: Array<[selector: string, expected: string[]]> = [
  ['labelSelector=i', ['l0', 'l1', 'l2', 'l3']],
  ['labelSelector=i=1', ['l1']],
  ['labelSelector=i==1', ['l1']],
  ['labelSelector=i!=1', ['l0', 'l2', 'l3', 'l4']],
  ['labelSelector=i in (1,2)', ['l1', 'l2']],
  ['labelSelector=i notin (1, 2)', ['l0', 'l3', 'l4']],
  ['labelSelector=!i', ['l4']],
  ['labelSelector=i,even=yes', ['l0', 'l2']],
  ['fieldSelector=metadata.name=l1', ['l1']],
  ['fieldSelector=metadata.name!=l1', ['l0', 'l2', 'l3', 'l4']],
  ['fieldSelector=spec.color=red', ['l1', 'l3']],
  ['fieldSelector=spec.color!=red,metadata.name!=l0', ['l2', 'l4']],
  ['labelSelector=even=yes&fieldSelector=metadata.name=l2', ['l2']]
]

function refusals({ widgets }: Api): Case[] {
  const bad = (name: string, query: string, message: string | RegExp): Case => ({
    name,
    send: ['GET', `${widgets}?${query}`],
    status: 400,
    reason: 'BadRequest',
    message
  })
  const wrong = (name: string, query: string, message: string): Case => ({
    name,
    send: ['GET', `${widgets}?${query}`],
    status: 422,
    reason: 'Invalid',
    message: `ListOptions.meta.k8s.io "" is invalid: ${message}`
  })
  return [
    bad('a continue token of no sense', 'limit=2&continue=zzz', /^invalid continue token: /),
    bad('a limit that is no number', 'limit=x', 'strconv.ParseInt: parsing "x": invalid syntax'),
    bad(
      'a label selector of no sense',
      'labelSelector=a%20b',
      "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"
    ),
    bad('a set without parentheses', 'labelSelector=a%20in%20b', "unable to parse requirement: found 'b' expected: '('"),
    bad('a field that cannot be selected', 'fieldSelector=spec.size%3D3', 'field label not supported: spec.size'),
    bad('a field selector of no sense', 'fieldSelector=a', "invalid selector: 'a'; can't understand 'a'"),
    bad(
      'a version that is no number',
      'resourceVersion=abc',
      'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax'
    ),
    wrong(
      'a match without a version',
      'resourceVersionMatch=Exact',
      'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided'
    ),
    wrong(
      'an unknown match',
      'resourceVersionMatch=Foo&resourceVersion=3',
      'resourceVersionMatch: Unsupported value: "Foo": supported values: "Exact", "NotOlderThan", ""'
    ),
    {
      name: 'a version of the future',
      send: ['GET', `${widgets}?resourceVersion=99999999`],
      status: 504,
      reason: 'Timeout',
      message: /^Timeout: Too large resource version: 99999999, current: \d+$/
    },
    {
      name: 'a form that is not to be had',
      send: ['GET', widgets, undefined, 'application/json', { accept: 'text/html' }],
      status: 406,
      reason: 'NotAcceptable',
      message: /^only the following media types are accepted: application\/json/
    }
  ]
}

const tableForm = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' }

export async function listing(t: Test, api: Api): Promise<void> {
  const { widgets, done, call } = api
  await done('DELETE', widgets)
  for (let i = 0; i < 5; i++) {
    const labels = i === 4 ? {} : { i: String(i), ...(i % 2 === 0 && { even: 'yes' }) }
    await done('POST', widgets, widget(`l${i}`, { color: i % 2 === 0 ? 'blue' : 'red' }, { labels }))
  }

  for (const [selector, expected] of selections)
    await t.test(selector, async t => t.strictSame(names(await done('GET', `${widgets}?${encodeURI(selector)}`)), expected))
  for (const each of refusals(api)) await runCase(t, api, each)

  await t.test('chunks are of one moment', async t => {
    const first = await done('GET', `${widgets}?limit=2`)
    t.strictSame(names(first), ['l0', 'l1'])
    t.match(first, { kind: 'WidgetList', metadata: { remainingItemCount: 3 } })
    await done('POST', widgets, widget('l1b'))
    await done('DELETE', `${widgets}/l3`)
    const next = encodeURIComponent(String(first.metadata.continue))
    const rest = await done('GET', `${widgets}?continue=${next}`)
    t.strictSame(names(rest), ['l2', 'l3', 'l4'], 'what happened in between is not seen')
    t.equal(rest.metadata.resourceVersion, first.metadata.resourceVersion)
    t.notOk(rest.metadata.continue)
    const both = await call('GET', `${widgets}?resourceVersion=5&continue=${next}`)
    t.strictSame([both.status, both.body.message], [400, 'specifying resource version is not allowed when using continue'])
    t.strictSame(names(await done('GET', widgets)), ['l0', 'l1', 'l1b', 'l2', 'l4'])
  })

  await t.test('a table for people', async t => {
    const { body } = await call('GET', `${widgets}?fieldSelector=metadata.name%3Dl0`, undefined, undefined, tableForm)
    const columns = body.columnDefinitions as Array<{ name: string; type: string; priority: number }>
    t.strictSame(
      columns.map(({ name, type, priority }) => [name, type, priority]),
      [
        ['Name', 'string', 0],
        ['Color', 'string', 0],
        ['Size', 'integer', 1],
        ['Ready', 'string', 0],
        ['Age', 'date', 0]
      ]
    )
    const [row] = body.rows as Array<{ cells: unknown[]; object: Body }>
    matchWhole(t, row?.cells, ['l0', 'blue', 3, null, /^\d+s$/])
    t.match(row?.object, { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'l0' } })
    t.notOk('spec' in (row?.object ?? {}))
  })

  await t.test('metadata alone', async t => {
    const { body } = await call('GET', widgets, undefined, undefined, {
      accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'
    })
    const items = ((await done('GET', widgets)).items ?? []).map(({ metadata: { name } }) => ({
      kind: 'PartialObjectMetadata',
      metadata: { name }
    }))
    t.equal(items[0]?.metadata.name, 'l0')
    matchWhole(t, body, { kind: 'PartialObjectMetadataList', items })
    t.notOk((body.items as object[]).some(item => 'spec' in item))
  })
}
