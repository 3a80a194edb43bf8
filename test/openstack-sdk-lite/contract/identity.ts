import { connect, OpenStackError } from 'openstack-sdk-lite'
import type { Part } from './scene.ts'

export const identity: Part = async (t, { target, raw }) => {
  const { options } = target

  await t.test('K1: a password that is wrong is told as Unauthorized, not retried', async t => {
    const cloud = await connect({ ...options, auth: { ...options.auth, password: 'canary-wrong' } })
    t.teardown(() => cloud.close())
    const err = await cloud.aggregates.list().catch((err: unknown) => err)
    t.match(err, { code: 'Unauthorized', status: 401, retryable: false, call: 'tokens.create (K1)' })
    t.notMatch(String(err), /canary/)
  })

  await t.test('K1: a token buys another token', async t => {
    const { kind: _, url, user, password, scope } = options.auth
    const identity = { methods: ['password'], password: { user: { ...user, password } } }
    const first = await raw('identity', 'POST', '/auth/tokens', { auth: { identity, scope } })
    t.equal(first.status, 201)
    const token = first.headers.get('x-subject-token') ?? ''
    const cloud = await connect({ ...options, auth: { kind: 'token', url, token, ...(scope && { scope }) } })
    t.teardown(() => cloud.close())
    t.type(await cloud.aggregates.list(), Array)
  })

  await t.test('HV-30: the services offer what every call needs', async t => {
    const cloud = await connect(options)
    t.teardown(() => cloud.close())
    await t.resolves(cloud.check())
  })

  await t.test('HV-31: a region that does not exist has no endpoint', async t => {
    const cloud = await connect({ ...options, region: 'Atlantis' })
    t.teardown(() => cloud.close())
    const err = await cloud.aggregates.list().catch((err: unknown) => err)
    t.ok(err instanceof OpenStackError && err.code === 'NoEndpoint' && /Atlantis/.test(err.message))
  })
}
