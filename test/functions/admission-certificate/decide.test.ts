// When the webhook's certificate is made anew, and whom the API server trusts meanwhile: no pod is ever shown a certificate that is not trusted.
import t from 'tap'
import { bundle, isGood, trustPatch, type Known } from '../../../functions/admission-certificate/decide.ts'

const now = new Date('2026-11-18T00:00:00Z')
const inMs = (ms: number): Date => new Date(now.getTime() + ms)
const hour = 3_600_000
const known = (pem: string, more: Partial<Known> = {}): Known => ({
  pem,
  names: ['a.svc', 'b.svc'],
  notAfter: inMs(10 * hour),
  fits: true,
  ...more
})

const good: Array<[name: string, current: Known | undefined, good: boolean]> = [
  ['as wanted', known('one'), true],
  ['none', undefined, false],
  ['the key is of another', known('one', { fits: false }), false],
  ['a name is missing', known('one', { names: ['a.svc'] }), false],
  ['more names than wanted', known('one', { names: ['c', 'b.svc', 'a.svc'] }), true],
  ['just not due', known('one', { notAfter: inMs(hour + 1) }), true],
  ['due', known('one', { notAfter: inMs(hour) }), false],
  ['expired', known('one', { notAfter: inMs(-1) }), false]
]
for (const [name, current, expected] of good)
  t.test(`whether it is kept: ${name}`, async t =>
    t.equal(isGood({ current, trusted: [] }, { names: ['a.svc', 'b.svc'], renewBeforeMs: hour }, now), expected)
  )

t.test('trusted: the new one first, and every earlier one until it ends, four at most', async t => {
  const made = { certificate: 'new\n', key: 'k' }
  const ended = (pem: string, ms: number) => known(pem, { notAfter: inMs(ms) })
  t.strictSame(bundle({ current: known('one\n'), trusted: [known('two')] }, made, now), ['new', 'one', 'two'])
  t.strictSame(bundle({ current: undefined, trusted: [] }, made, now), ['new'])
  t.strictSame(bundle({ current: known('one\n'), trusted: [known(' one'), known('two')] }, undefined, now), ['one', 'two'])
  t.strictSame(bundle({ current: ended('one', 0), trusted: [ended('two', -1), ended('three', 1)] }, made, now), ['new', 'three'])
  const many = ['two', 'three', 'four', 'five'].map(pem => known(pem))
  t.strictSame(bundle({ current: known('one'), trusted: many }, undefined, now), ['one', 'two', 'three', 'four'])
})

t.test('a configuration is patched where it does not trust them yet, and only where the webhook is ours', async t => {
  const caBundle = Buffer.from('one\ntwo\n').toString('base64')
  const patch = trustPatch(
    [
      { name: 'trusts', clientConfig: { caBundle } },
      { name: 'by-url', clientConfig: { caBundle: 'theirs', url: 'https://elsewhere' } },
      { name: 'old', clientConfig: { caBundle: 'old' } },
      { name: 'none', clientConfig: {} }
    ],
    ['one', 'two']
  )
  t.strictSame(patch, [
    { op: 'test', path: '/webhooks/2/name', value: 'old' },
    { op: 'add', path: '/webhooks/2/clientConfig/caBundle', value: caBundle },
    { op: 'test', path: '/webhooks/3/name', value: 'none' },
    { op: 'add', path: '/webhooks/3/clientConfig/caBundle', value: caBundle }
  ])
})
