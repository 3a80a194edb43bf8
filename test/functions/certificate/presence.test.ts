import t from 'tap'
import { watchPresence } from '../../../functions/certificate/presence.ts'
import { testPlatform } from '../../runtime/platform.ts'

void t.test('a missing cert-manager is told once for each change of that fact, and counted each time', async t => {
  const platform = testPlatform()
  const presence = watchPresence(platform)
  const levels = () => platform.lines().map(({ level }) => level)
  presence.isThere()
  t.strictSame(levels(), [], 'that all is well is no news')
  for (let n = 0; n < 50; n++) presence.isMissing(`libvirt-node${n}`, new Error('no such kind'))
  t.strictSame(levels(), [40])
  presence.isThere()
  presence.isThere()
  t.strictSame(levels(), [40, 30])
  presence.isMissing('libvirt-node1', new Error('gone again'))
  t.strictSame(levels(), [40, 30, 40])
  t.match(await platform.metrics.metrics(), /drover_certificate_waits_total 51\b/)
  watchPresence(platform).isMissing('libvirt-node1', new Error('another function of the process'))
  t.match(await platform.metrics.metrics(), /drover_certificate_waits_total 52\b/)
})
