// agents/cluster on the real API server, under exactly the role of knative/cluster-agent.yaml.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { clusterAgent } from '../../../agents/cluster/agent.ts'
import { connect, Node } from '../../../shared/kube/index.ts'
import { startAgent } from '../../../shared/runtime/agent.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { Machine } from '../../../shared/schema/machine.ts'
import { eventually } from '../../servers/eventually.ts'
import { asServiceAccount } from '../../servers/identity.ts'
import { ownKubernetes } from '../../servers/kubernetes.ts'
import { rightsOf } from '../../servers/rights.ts'

t.setTimeout(300_000)
const api = await ownKubernetes(t)
const kubeconfig = await asServiceAccount(t, api, 'cluster-agent.yaml', 'cluster-agent')
const admin = await connect({ manager: 'test', kubeconfig: api.kubeconfig, timeoutMs: 60_000 })
t.teardown(() => admin.close())

interface Told {
  type: string
  subject: string
  changed: string[]
  headers: IncomingHttpHeaders
  data: { name: string; uid: string; resourceVersion: string; last?: { numInstances: number } }
}

/** A broker that can be taken away, and that may refuse what it does not like. */
async function broker(t: Test, refuses: (told: Told) => boolean = () => false) {
  const told: Told[] = []
  let refused = 0
  let server: Server | undefined
  let port = 0
  const start = async () => {
    server = createServer(async (request, response) => {
      const body = Buffer.concat(await Array.fromAsync(request)).toString()
      const { headers } = request
      const event = {
        type: String(headers['ce-type']),
        subject: String(headers['ce-subject']),
        changed: String(headers['ce-changed'] ?? '').split(',')
      }
      const whole = { ...event, headers, data: JSON.parse(body) }
      const no = refuses(whole)
      if (no) refused += 1
      else told.push(whole)
      response.writeHead(no ? 500 : 202).end()
    }).listen(port, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  }
  const stop = async () => {
    server?.closeAllConnections()
    server?.close()
    if (server) await once(server, 'close')
    server = undefined
  }
  await start()
  t.teardown(stop)
  return { told, start, stop, url: `http://127.0.0.1:${port}`, refused: () => refused }
}

async function agent(t: Test, sink: string, more: Record<string, string> = {}) {
  const env = { KUBECONFIG: kubeconfig, K_SINK: sink, PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'silent', ...more }
  const running = await startAgent(clusterAgent, { env })
  let closed = false
  const close = async () => {
    if (!closed) await running.close()
    closed = true
  }
  t.teardown(close)
  return { ...running, close }
}

const gauge = async (url: string, name: string) => {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1])
}

const busy = 100
/** A minute without a broker, which passes while the tests before the one that looks at it run. */
async function loseTheBroker() {
  const { told, start, stop, url } = await broker(t)
  const { url: health } = await agent(t, url)
  await Promise.all(Array.from({ length: busy }, (_, n) => admin.apply(Hypervisor, { metadata: { name: `busy-${n}` } })))
  await eventually('all of them', async () => new Set(told.map(({ subject }) => subject)).size >= busy)
  await stop()
  const downSince = Date.now()
  told.length = 0
  const last = new Map<string, string | undefined>()
  const change = async (name: string, value: number) => {
    const { metadata } = await admin.patch(Hypervisor, { name }, { metadata: { labels: { change: String(value) } } })
    last.set(name, metadata.resourceVersion)
  }
  const changes = Array.from({ length: 10 }, async (_, writer) => {
    for (let value = 0; value < 50; value++) for (let n = writer; n < busy; n += 10) await change(`busy-${n}`, value)
  })
  await Promise.all(changes)
  const waiting = await gauge(health, 'drover_cluster_changes_waiting')
  await wait(Math.max(0, 60_000 - (Date.now() - downSince))) // the outage itself: a minute
  const toldMeanwhile = told.length
  await start()
  const behind = () =>
    [...last].filter(([name, version]) => told.findLast(({ subject }) => subject === name)?.data.resourceVersion !== version)
  await eventually('the last state of every object', async () => behind().length === 0)
  return { waiting, toldMeanwhile, events: told.length, behind: behind() }
}
const outage = loseTheBroker()
outage.catch(() => {}) // told where it is awaited

t.test('tells what exists at its start, then what changes, and says which part', async t => {
  await admin.apply(Hypervisor, { metadata: { name: 'before', labels: { a: '1' } } })
  const { told, url } = await broker(t)
  await agent(t, url)
  const about = (verb: 'changed' | 'deleted') =>
    told.filter(({ type, subject }) => type === `sap.cloud.kvm.hypervisor.${verb}.v1` && subject === 'before')
  const first = await eventually('what was there', async () => about('changed')[0])
  t.strictSame(first.changed, ['created', 'labels', 'annotations', 'spec', 'conditions', 'status'])
  t.match(first.headers, { 'ce-partitionkey': 'before', 'ce-source': '/cluster-agent', 'content-type': 'application/json' })
  t.equal(first.headers['ce-id'], `${first.data.uid}/${first.data.resourceVersion}`)

  await admin.patch(Hypervisor, { name: 'before' }, { metadata: { labels: { a: '2' } } })
  t.strictSame((await eventually('the label', async () => about('changed')[1])).changed, ['labels'])
  const status = (lastHeartbeat: string, numInstances: number) => ({ status: { numInstances, agent: { lastHeartbeat } } })
  await admin.patch(Hypervisor, { name: 'before' }, status('2026-01-01T00:00:01Z', 1), { subresource: 'status' })
  t.strictSame((await eventually('the status', async () => about('changed')[2])).changed, ['status'])
  await admin.patch(Hypervisor, { name: 'before' }, status('2026-01-01T00:00:02Z', 1), { subresource: 'status' })
  await admin.delete(Hypervisor, { name: 'before' })
  await eventually('the deletion', async () => about('deleted')[0])
  t.equal(about('changed').length, 3, 'a mere heartbeat was not told')
})

t.test('kinds that are not installed hold up nobody; a Hypervisor is remembered when it is gone', async t => {
  const { told, url } = await broker(t)
  const { url: health } = await agent(t, url)
  t.equal((await fetch(`${health}/readyz`)).status, 200, 'although KubeVirt is missing')
  await admin.create(Machine, { metadata: { name: 'm', namespace: api.namespace }, spec: { template: 'small' } })
  const machine = await eventually('the Machine', async () => told.find(({ type }) => type === 'io.vitistack.machine.changed.v1'))
  t.equal(machine.headers['ce-partitionkey'], `${api.namespace}/m`)
  await admin.apply(Hypervisor, { metadata: { name: 'hv' } })
  await admin.applyStatus(Hypervisor, { metadata: { name: 'hv' }, status: { numInstances: 3 } })
  await eventually('the status', async () => told.some(({ subject, changed }) => subject === 'hv' && changed.includes('status')))
  await admin.delete(Hypervisor, { name: 'hv' })
  const gone = await eventually('the deletion', async () =>
    told.find(({ type }) => type === 'sap.cloud.kvm.hypervisor.deleted.v1')
  )
  t.strictSame(gone.data.last, { numInstances: 3, instances: [] })
})

t.test('an object that the broker refuses holds up no other', async t => {
  for (const name of ['bad', 'good']) await admin.create(Node, { metadata: { name } })
  let grumpy = true
  const { told, url, refused } = await broker(t, ({ subject }) => grumpy && subject === 'bad')
  await agent(t, url)
  await eventually('the good one', async () => told.some(({ subject }) => subject === 'good'))
  await eventually('a second try of the bad one', async () => refused() >= 2)
  await admin.patch(Node, { name: 'bad' }, { metadata: { labels: { a: '1' } } })
  grumpy = false
  const { changed } = await eventually('the bad one', async () => told.find(({ subject }) => subject === 'bad'))
  t.ok(changed.includes('created'), 'what was refused is still told')
  for (const name of ['bad', 'good']) await admin.delete(Node, { name })
})

t.test('of two replicas one speaks, and the other when it is gone', async t => {
  const { told, url } = await broker(t)
  const lease = { LEASE_NAMESPACE: 'drover' }
  const one = await agent(t, url, { ...lease, POD_NAME: 'one' })
  await admin.create(Node, { metadata: { name: 'shared' } })
  const about = () => told.filter(({ subject }) => subject === 'shared')
  await eventually('the first replica', async () => about().length > 0)
  await agent(t, url, { ...lease, POD_NAME: 'two' })
  await admin.patch(Node, { name: 'shared' }, { metadata: { labels: { a: '1' } } })
  // the controller manager taints a new Node: its change may be told together with ours
  await eventually('the change', async () =>
    about().some(({ changed }) => changed.includes('labels') && !changed.includes('created'))
  )
  t.equal(about().filter(({ changed }) => changed.includes('created')).length, 1, 'the second replica is silent')
  await one.close()
  await eventually(
    'the second, which tells everything anew',
    async () => about().filter(({ changed }) => changed.includes('created')).length === 2
  )
  await admin.delete(Node, { name: 'shared' })
})

t.test('its role is the smallest that works, and lets it write nothing but its lease', async t => {
  const { unused, refused } = await rightsOf(api, 'cluster-agent.yaml', 'cluster-agent')
  const absent = /kubevirt\.io\// // KubeVirt and CDI are not installed here: only asked for, by a list
  t.strictSame(
    unused.filter(right => !absent.test(right)),
    []
  )
  t.strictSame(refused, [])
})

t.test('the broker down for a minute under 5,000 changes: the last state of every object is told, in bounded memory', async t => {
  const { waiting, toldMeanwhile, events, behind } = await outage
  t.ok(waiting > 0 && waiting <= busy + 50, `one message an object, not one a change: ${waiting}`)
  t.equal(toldMeanwhile, 0)
  t.strictSame(behind, [], 'every object’s last state')
  t.ok(events < 1000, `${events} events told 5,000 changes`)
})
