// What the embedded Nova leaves out of its lists, as the real one does.
import { connect } from 'openstack-sdk-lite'
import t from 'tap'
import { manualClock } from '../../shared/local/openstack/index.ts'
import { startLive } from '../../shared/local/openstack/world/live-moves.ts'
import { fakeOpenStack, passwordOf } from '../openstack-sdk-lite/fake.ts'
import { matchWhole } from '../assert/match-whole.ts'

t.test('a migration that was never updated is no change since anything', async t => {
  const clock = manualClock()
  const fake = await fakeOpenStack(t, { clock, hosts: ['a', 'b'] })
  const { migrations } = await connect(passwordOf(fake))
  const changesSince = new Date(clock.now() - 60_000).toISOString()
  startLive(fake.world, fake.addServer({ name: 'web-1', host: 'a' }), 'b', 'req-1')
  t.equal((await migrations.list()).length, 1)
  t.strictSame(await migrations.list({ changesSince }), [])
  clock.advance(60_000)
  matchWhole(t, await migrations.list({ changesSince }), [{ status: 'completed' }])
})

t.test('servers in a cell that is away are listed, but not by host', async t => {
  const fake = await fakeOpenStack(t, { hosts: ['a'] })
  const { servers } = await connect(passwordOf(fake))
  fake.addServer({ name: 'web-1', host: 'a' })
  fake.addServer({ name: 'web-2', host: 'a' }).cellDown = true
  t.strictSame(
    (await servers.list({ allProjects: true })).map(({ status }) => status),
    ['UNKNOWN', 'ACTIVE']
  )
  matchWhole(t, await servers.list({ allProjects: true, host: 'a' }), [{ name: 'web-1' }])
})
