// HV-43, EV-13: notifications of a real Nova, out of a real RabbitMQ. A drain goes on by them alone: no tick comes, no agent speaks.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { connect } from 'openstack-sdk-lite'
import t from 'tap'
import handler from '../../../functions/nova-notifications/handler.ts'
import { serve } from '../../../shared/runtime/serve.ts'
import { served } from '../../bench/evict/served.ts'
import { eventually } from '../../servers/eventually.ts'
import { openstack } from '../../servers/openstack.ts'
import { onNotification } from '../../servers/openstack/notifications.ts'
import { makeServers } from '../evict/nova.ts'

t.setTimeout(1_800_000)
const target = await openstack(t)
const cloud = await connect(target.options)
t.teardown(() => cloud.close())
const [host] = target.hosts
const onHost = () => cloud.servers.list({ host, allProjects: true })

const servers = await makeServers(
  cloud,
  target,
  Array.from({ length: 4 }, (_, at) => ({ name: `n${at}`, host }))
)
await target.setLiveMove(host, 1)
t.teardown(() => target.setLiveMove(host, undefined))
const [service] = await cloud.services.list({ host, binary: 'nova-compute' })
const env = { DESTINATION_LIMIT: '4' }
const { post, evict } = await served(t, target.options, service?.id ?? '', { maxParallel: 2, env })

/** In place of the broker: what the function emits goes to `evict`. */
const told: Array<{ type: string; data: { event?: string; host?: string; server?: string } }> = []
const broker = createServer(async (request, response) => {
  const data = JSON.parse(await text(request)) as { event: string }
  const type = String(request.headers['ce-type'])
  told.push({ type, data })
  if (type === 'org.openstack.nova.server.changed.v1') void post(type, data)
  response.writeHead(202).end()
})
broker.listen(0, '127.0.0.1')
t.teardown(() => broker.close())
await new Promise(resolve => broker.once('listening', resolve))
const sink = `http://127.0.0.1:${(broker.address() as AddressInfo).port}`
const translator = await serve(handler, { env: { K_SINK: sink, LOG_LEVEL: 'fatal', PORT: '0', HOST: '127.0.0.1' } })
t.teardown(() => translator.close())

const answers: number[] = []
let number = 0
const forward = async (headers: Record<string, string>, body: string): Promise<void> => {
  const response = await fetch(translator.url, { method: 'POST', headers, body })
  await response.arrayBuffer()
  answers.push(response.status)
}
const stop = await onNotification(await target.amqpUrl(), message => {
  const headers = {
    'content-type': 'application/json',
    'ce-specversion': '1.0',
    'ce-id': String((number += 1)),
    'ce-source': '/apis/v1/namespaces/drover/rabbitmqsources/nova',
    'ce-type': 'dev.knative.rabbitmq.event'
  }
  void forward(headers, JSON.stringify(message))
})
t.teardown(stop)

await evict()
await eventually('an empty host', async () => (await onHost()).length === 0, 600_000)
await eventually(
  'the last word',
  async () => told.filter(({ data }) => data.event === 'instance.live_migration_post.end').length >= 4,
  60_000
)

const moved = told.filter(({ data }) => data.event === 'instance.live_migration_post.end').map(({ data }) => data.server)
t.strictSame(new Set(moved), new Set(servers.values()), 'Nova told of the end of each move')
t.ok(
  told.some(({ data }) => data.event === 'service.update' && data.host === host),
  'and that the service was disabled'
)
t.strictSame([...new Set(answers)], [204], 'every message was taken, also those that say nothing to us')
t.ok(told.length < number, `${told.length} hints of ${number} messages`)
t.comment(`${told.length} hints of ${number} messages: ${[...new Set(told.map(({ data }) => data.event))].join(', ')}`)
