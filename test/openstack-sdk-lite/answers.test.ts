// HV-62: an answer of another shape or code than stated is an error at once, and not an `undefined` three calls later.
import t, { type Test } from 'tap'
import { type Cloud, connect, OpenStackError } from 'openstack-sdk-lite'
import type { FakeOpenStack } from '../../shared/local/openstack/index.ts'
import { fakeOpenStack, passwordOf } from './fake.ts'

async function open(t: Test): Promise<{ fake: FakeOpenStack; cloud: Cloud }> {
  const fake = await fakeOpenStack(t, { hosts: ['hv1'] })
  const cloud = await connect(passwordOf(fake))
  t.teardown(() => cloud.close())
  return { fake, cloud }
}

const failure = (call: Promise<unknown>): Promise<OpenStackError> =>
  call.then(
    () => Promise.reject(new Error('it did not fail')),
    (err: unknown) => (err instanceof OpenStackError ? err : Promise.reject(err as Error))
  )

const wrong: Array<[what: string, path: RegExp, body: object, call: (cloud: Cloud) => Promise<unknown>, message: RegExp]> = [
  ['no list', /aggregates/, {}, ({ aggregates }) => aggregates.list(), /aggregates should be a list, not undefined/],
  [
    'a list of numbers',
    /aggregates/,
    { aggregates: [1] },
    ({ aggregates }) => aggregates.list(),
    /aggregates\[0\] should be an object/
  ],
  ['a number for a text', /services/, { services: [{ id: 7 }] }, ({ services }) => services.list(), /status should be a string/],
  [
    'an id that is null',
    /^\/traits/,
    { traits: [null] },
    ({ traits }) => traits.known(['A']),
    /traits\[0\] should be a string, not null/
  ],
  [
    'a generation that is a text',
    /traits$/,
    { traits: [], resource_provider_generation: '7' },
    ({ resourceProviders }) => resourceProviders.traits('p'),
    /resource_provider_generation should be a number, not string/
  ],
  ['a list for an object', /servers\/s/, [], ({ servers }) => servers.get('s'), /the answer should be an object, not a list/]
]
for (const [what, path, body, call, message] of wrong) {
  void t.test(`${what}: BadAnswer, not asked again`, async t => {
    const { fake, cloud } = await open(t)
    fake.faults.add({ path, effect: { answer: { status: 200, body } } })
    const err = await failure(call(cloud))
    t.match(err, { code: 'BadAnswer', status: 200, retryable: false, message })
    t.match(err.call, /^\w+\.\w+ \([CP]\d+\)$/)
    t.equal(fake.requests.filter(({ path: asked }) => path.test(asked)).length, 1)
  })
}

void t.test(
  'a code that is not stated for the call is an error, also a good one; of a write nobody knows whether it was done',
  async t => {
    const { fake, cloud } = await open(t)
    fake.faults.add({ path: /aggregates$/, effect: { answer: { status: 204 } } })
    t.match(await failure(cloud.aggregates.list()), { code: 'UnexpectedStatus', status: 204, maybeDone: false })
    fake.faults.add({ path: /aggregates\/1/, effect: { answer: { status: 202, body: {} } } })
    t.match(await failure(cloud.aggregates.addHost(1, 'hv1')), { code: 'UnexpectedStatus', status: 202, maybeDone: true })
    fake.faults.add({ path: /services/, effect: { answer: { status: 302, headers: { location: 'http://127.0.0.1:1/' } } } })
    t.match(await failure(cloud.services.list()), { code: 'UnexpectedStatus', status: 302 }, 'a redirect is not followed')
  }
)

void t.test(
  'C4: of a service in a cell that does not answer Nova tells the host alone, and the others are told as ever',
  async t => {
    const { fake, cloud } = await open(t)
    const [known] = await cloud.services.list()
    const cut = { binary: 'nova-compute', host: 'hv2', status: 'UNKNOWN' }
    const whole = {
      id: 's1',
      binary: 'nova-compute',
      host: 'hv1',
      zone: 'nova',
      status: 'enabled',
      state: 'up',
      forced_down: false
    }
    fake.faults.add({ path: /services/, effect: { answer: { status: 200, body: { services: [cut, whole] } } } })
    const [unknown, other] = await cloud.services.list()
    t.match(unknown, { id: '', host: 'hv2', status: 'unknown', state: 'unknown', forcedDown: false, zone: null })
    t.match(other, { id: 's1', host: 'hv1', status: 'enabled', state: 'up' })
    t.match(known, { host: 'hv1', status: 'enabled' })
  }
)

void t.test('pages: only the marker of a link is used, and a page that follows itself is no endless list', async t => {
  const { fake, cloud } = await open(t)
  const link = [{ rel: 'next', href: 'http://elsewhere.example.com/steal?marker=m1' }]
  const page = { status: 200, body: { migrations: [], migrations_links: link } }
  const lift = fake.faults.add({ path: /os-migrations/, times: 1, effect: { answer: page } })
  t.match(await failure(cloud.migrations.list()), { status: 400, words: /Marker m1 could not be found/ }, 'asked at home')
  lift()
  fake.faults.add({ path: /os-migrations/, effect: { answer: page } })
  t.match(await failure(cloud.migrations.list()), { code: 'BadAnswer', message: /the page after m1 is itself/ })
})
