import { assert, asyncProperty, double, infiniteStream } from 'fast-check'
import t from 'tap'
import { connect } from 'openstack-sdk-lite'
import { openstack } from '../../servers/openstack.ts'
import { openRaw } from '../../servers/openstack/raw.ts'
import { newProvider, raceTrack } from './race.ts'

t.setTimeout(900_000)
// In nearly every run both really meet (see race.ts). The full thousand is in `npm run bench -- openstack`.
const runs = 20
void t.test('AG-12: no update is lost against a rival writer, on the real Placement', async t => {
  const target = await openstack(t)
  const cloud = await connect(target.options)
  t.teardown(() => cloud.close())
  const provider = newProvider()
  const raw = await openRaw(target)
  t.match(await raw('placement', 'POST', '/resource_providers', provider), { status: 200 })
  t.teardown(() => cloud.resourceProviders.delete(provider.uuid))
  const track = await raceTrack(cloud, provider.uuid)
  let contended = 0
  await assert(
    asyncProperty(infiniteStream(double({ min: 0, max: 1, noNaN: true })), async chances => {
      const race = await track.run(() => chances.next().value ?? 0)
      contended += race.contended ? 1 : 0
      return race.lost.length === 0
    }),
    { numRuns: runs, endOnFailure: true }
  )
  t.ok(contended > runs / 4, `${contended} of ${runs} races met`)
})
