// HV-43, EV-13: which notifications of Nova are hints, and of what.
import t from 'tap'
import { decide } from '../../../functions/nova-notifications/decide.ts'
import { read } from '../../../functions/nova-notifications/read.ts'

const notification = (event_type: string, data: object) => ({
  event_type,
  message_id: 'm',
  publisher_id: 'nova-compute:hv1',
  priority: 'INFO',
  timestamp: '2026-11-17 04:00:00.000000',
  payload: { 'nova_object.name': 'P', 'nova_object.version': '1.0', 'nova_object.namespace': 'nova', 'nova_object.data': data }
})
const enveloped = (message: unknown) => ({ 'oslo.version': '2.0', 'oslo.message': JSON.stringify(message) })
const hintOf = (data: unknown) => {
  const found = read(data)
  return found && decide(found)
}
const server = { uuid: 's1', display_name: 'web', host: 'hv1', metadata: { secret: 'of a tenant' } }

const cases: Array<[name: string, data: unknown, hint: unknown]> = [
  [
    'a move ended: names only, nothing of the payload',
    enveloped(notification('instance.live_migration_post.end', server)),
    { about: 'server', event: 'instance.live_migration_post.end', server: 's1', name: 'web', host: 'hv1' }
  ],
  [
    'a server without a host',
    notification('instance.create.error', { ...server, host: null }),
    { about: 'server', server: 's1' }
  ],
  ['a beginning is no end', notification('instance.delete.start', server), undefined],
  ['every small step', notification('instance.update', server), undefined],
  [
    'a service that was disabled',
    notification('service.update', { host: 'hv1', binary: 'nova-compute', disabled: true }),
    { about: 'service', event: 'service.update', host: 'hv1' }
  ],
  ['a service of another kind', notification('service.update', { host: 'c1', binary: 'nova-scheduler' }), undefined],
  ['another project', enveloped({ event_type: 'port.create.end', payload: { port: {} } }), undefined],
  ['no notification at all', { 'oslo.message': '{' }, undefined],
  ['no object', 'hello', undefined]
]
for (const [name, data, hint] of cases)
  t.test(name, async t => (hint === undefined ? t.equal(hintOf(data), undefined) : t.match(hintOf(data), hint)))

t.test('what a hint carries', async t => {
  t.strictSame(Object.keys(hintOf(notification('instance.delete.end', server)) ?? {}).toSorted(), [
    'about',
    'event',
    'host',
    'name',
    'server'
  ])
})
