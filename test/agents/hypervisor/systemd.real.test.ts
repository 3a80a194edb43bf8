// NA-24: how a unit's start ended, over a real dbus-daemon
import t from 'tap'
import { openBus } from '../../../agents/hypervisor/host/bus.ts'
import { systemd } from '../../../agents/hypervisor/host/systemd.ts'
import { startBus } from '../../servers/dbus.ts'
import { eventually } from '../../servers/eventually.ts'

const stands = await startBus(t)
const bus = await openBus(stands.address)
t.teardown(() => bus.close())
const { start } = await systemd(bus, () => {})
const { signal } = new AbortController()

t.test('the result of the job, and of the unit: a program that fails right after its start has failed', async t => {
  t.equal(await start('good.service', signal), 'done')
  await stands.result('bad.service', 'failed')
  t.equal(await start('bad.service', signal), 'failed')
  await stands.result('short.service', 'crashes')
  t.equal(await start('short.service', signal), 'failed', 'its job was done')
  await stands.result('none.service', 'missing')
  await t.rejects(start('none.service', signal), /not found/)
})

t.test('one that is given up, and a bus that goes away', async t => {
  const stop = new AbortController()
  await stands.result('slow.service', 'never')
  const given = t.rejects(start('slow.service', stop.signal), /enough/)
  stop.abort(new Error('enough'))
  await given
  const lost = t.rejects(start('slow.service', signal), /hung up|closed/)
  await eventually(
    'the second start',
    async () => (await stands.state()).started.filter(one => one === 'slow.service').length === 2
  )
  await stands.kill()
  await lost
})
