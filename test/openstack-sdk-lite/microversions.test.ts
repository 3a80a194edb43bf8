// HV-30: each call asks for its own microversion.
import t from 'tap'
import { type Scene, failure, open } from './scene.ts'

void t.test('microversions (HV-30)', async t => {
  const sent = ({ fake }: Scene, path: string): string | undefined =>
    fake.requests.find(request => request.path === path)?.version
  await t.test('each request carries its own: the newest that all agree on', async t => {
    const scene = await open(t)
    await Promise.all([
      scene.cloud.aggregates.list(),
      scene.cloud.hypervisors.list(),
      scene.cloud.traits.known(['CUSTOM_X']),
      scene.cloud.images.named('x')
    ])
    t.equal(sent(scene, '/os-aggregates'), 'compute 2.94', 'the cap, though the server has 2.96')
    t.equal(sent(scene, '/os-hypervisors/detail'), 'compute 2.87')
    t.equal(sent(scene, '/traits'), 'placement 1.39')
    t.equal(sent(scene, '/v2/images'), undefined)
  })
  await t.test('an older server', async t => {
    const scene = await open(t, {}, { versions: { compute: { min: '2.1', max: '2.91' } } })
    await scene.cloud.aggregates.list()
    t.equal(sent(scene, '/os-aggregates'), 'compute 2.91')
    await scene.cloud.check()
  })
  await t.test('floor unmet: an error that names the call, before anything is asked', async t => {
    const scene = await open(t, {}, { versions: { compute: { min: '2.1', max: '2.89' } } })
    const err = await failure(scene.cloud.servers.liveMigrate('x'))
    t.match(err, {
      code: 'VersionUnsupported',
      retryable: false,
      message: /servers\.liveMigrate \(C14\): needs a server with compute 2\.90.*2\.1 to 2\.89/
    })
    t.match(await failure(scene.cloud.check()), { code: 'VersionUnsupported', call: 'hypervisors.search (C1)' })
    t.equal(scene.fake.requests.filter(({ path }) => path !== '/' && path !== '/v3/auth/tokens').length, 0)
  })
  await t.test('a service replaced by an older release is asked again', async t => {
    const { fake, cloud } = await open(t)
    await cloud.aggregates.list()
    fake.faults.add({ path: /aggregates/, times: 1, effect: { answer: { status: 406, body: {} } } })
    t.match(await failure(cloud.aggregates.list()), { code: 'NotAcceptable' })
    await cloud.aggregates.list()
    t.equal(fake.requests.filter(({ path }) => path === '/').length, 2)
  })
})
