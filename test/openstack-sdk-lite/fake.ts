// The fake OpenStack for one test: it goes when the test ends, and fails it if it was asked for something it does not know.
import type { Test } from 'tap'
import { type FakeOpenStack, type FakeOptions, startOpenStack } from '../../shared/local/openstack/index.ts'
import type { Target } from './contract/target.ts'

export async function fakeOpenStack(t: Test, options: FakeOptions = {}): Promise<FakeOpenStack> {
  const fake = await startOpenStack(options)
  t.teardown(async () => {
    await fake.close()
    if (fake.unexpected.length > 0) throw new Error(`calls that the fake does not know: ${fake.unexpected.join(', ')}`)
  })
  return fake
}

export function passwordOf({ authUrl, account }: FakeOpenStack): Target['options'] {
  const domain = { name: 'Default' }
  const user = { name: account.user, domain }
  const scope = { project: { name: 'admin', domain } }
  return { auth: { kind: 'password', url: authUrl, user, password: account.password, scope }, region: 'RegionOne' }
}

/** A fake that is quicker than Nova in nothing but time: down after 400 ms, not 60 s. */
export async function fakeTarget(t: Test): Promise<Target & { fake: FakeOpenStack }> {
  const fake = await fakeOpenStack(t, {
    hosts: ['hv1', 'hv2', 'hv3'],
    pace: { report: 50, serviceDown: 400, call: 500, audit: 500 }
  })
  const imageId = '11111111-2222-3333-4444-555555555555'
  fake.world.images.push({ id: imageId, name: 'fake' })
  return {
    options: passwordOf(fake),
    hosts: ['hv1', 'hv2', 'hv3'],
    imageId,
    flavorId: '1',
    async setLiveMove(host, how) {
      Object.assign(fake.host(host), { liveMoveFails: how === 'fail', liveMoveMs: typeof how === 'number' ? how * 1000 : 100 })
    },
    startAgent: async host => fake.startAgent(host),
    stopAgent: async host => fake.stopAgent(host),
    killAgent: async host => fake.killAgent(host),
    fake
  }
}
