// T-3 on the real libvirtd: who is told of an event and asks libvirt back, on the same connection, is answered; and an agent whose broker takes
// nothing still hears libvirt.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { procedures as p } from 'node-libvirt'
import t from 'tap'
import { create, libvirtNeeded, open } from '../../node-libvirt/real.ts'
import { hostRoot, kubeconfigOfNobody } from '../../agents/hypervisor/harness.ts'
import { eventually } from '../../servers/eventually.ts'
import { startLibvirt } from '../../servers/libvirt.ts'
import { agentProcess } from './compute.ts'

await libvirtNeeded()
t.setTimeout(300_000)
const whole = t
const { nodes } = await startLibvirt(t)
const [node] = nodes as [(typeof nodes)[number]]
const actor = await open(t, node.uri)
const guest = await create(actor, 'busy')
const times = 100

async function pauses(count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    await actor.call(p.domainSuspend, { domain: guest })
    await actor.call(p.domainResume, { domain: guest })
  }
}

t.test('T-3: a handler that asks libvirt back for each event, while more of them come', async t => {
  const virt = await open(t, node.uri, { keepalive: { intervalMs: 500, count: 3 } })
  const events = await virt.subscribe(['lifecycle'])
  const acting = pauses(times)
  const told: string[] = []
  for await (const event of events) {
    if (event.kind !== 'lifecycle') throw new Error(`lost: ${event.kind}`)
    const [state, xml] = await Promise.all([
      virt.domainState(event.domain),
      virt.call(p.domainGetXmlDesc, { domain: event.domain })
    ])
    t.match(xml, '<name>busy</name>')
    const isAlive = state.state === 'running' || state.state === 'paused'
    told.push(`${event.event} ${isAlive}`)
    if (told.length === 2 * times) break
  }
  await acting
  const expected = Array.from({ length: times }, () => ['suspended true', 'resumed true']).flat()
  t.strictSame(told, expected, 'each, in order, and each question has its answer')
})

t.test('T-3, NA-10: a broker that takes and never answers, no API server: libvirt is heard, and nothing is lost', async t => {
  const held = new Set<ServerResponse>()
  const told: Array<{ type: string; sequence: string; data: Record<string, unknown> }> = []
  let answers = true
  const broker = createServer(async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request)).toString()
    if (!answers) {
      held.add(response)
      return
    }
    const { 'ce-type': type, 'ce-sequence': sequence } = request.headers
    told.push({ type: String(type), sequence: String(sequence), data: JSON.parse(body) as Record<string, unknown> })
    response.writeHead(202).end()
  }).listen(0, '127.0.0.1')
  await once(broker, 'listening')
  t.teardown(() => {
    broker.closeAllConnections()
    broker.close()
  })
  const root = await hostRoot(t)
  const agent = await agentProcess(whole, {
    NODE_NAME: 'held',
    KUBECONFIG: await kubeconfigOfNobody(root),
    K_SINK: `http://127.0.0.1:${(broker.address() as AddressInfo).port}`,
    LIBVIRT_URI: node.uri,
    HOST_ROOT: root,
    STATE_FOLDER: join(root, 'state'),
    KEEPALIVE: '500ms'
  })
  // what happens before its first listing is in that one
  await eventually(
    'an agent that listens',
    async () => told.some(({ type }) => type === 'sap.cloud.kvm.instances.reported.v1'),
    60_000
  )
  answers = false
  await eventually('an agent that is held up', async () => held.size > 0, 60_000)
  await pauses(times)
  node.run('kill -9 $(cat /run/libvirt/qemu/busy.pid)')
  await eventually('the end of the guest', async () => (await actor.domains()).length === 0, 60_000)
  answers = true
  for (const response of held) response.destroy()
  const ofGuest = () => told.filter(({ data }) => data['server'] === guest.uuid)
  await eventually('how it ended', async () => ofGuest().some(({ type }) => type === 'sap.cloud.kvm.domain.crashed.v1'), 120_000)
  t.ok(agent.runs(), 'the same process')
  const words = ofGuest().map(({ data }) => String(data['event']))
  t.strictSame(words.slice(-3), ['suspended', 'resumed', 'stopped'], 'in order')
  t.equal(words.filter(word => word === 'suspended').length, times, 'none is lost')
  t.notOk(
    told.some(({ type }) => type.includes('libvirt.lost')),
    'and libvirt was never out of reach: it was read all the while'
  )
})
