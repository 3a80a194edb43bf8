// What an agent outlives: a frozen libvirtd, a clock that jumps, an API server that goes and comes back, a full disk; and that many of
// them fit into one process. libvirt is its own test driver in the real daemon; the API server is the real one, behind a door.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { connect as dial, createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectLibvirt, procedures as p } from 'node-libvirt'
import pino from 'pino'
import t from 'tap'
import { watch } from '../../../agents/hypervisor/libvirt/watch.ts'
import { connect } from '../../../shared/kube/index.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { eventually } from '../../servers/eventually.ts'
import { asServiceAccount } from '../../servers/identity.ts'
import { kubernetes } from '../../servers/kubernetes.ts'
import { startLibvirt } from '../../servers/libvirt.ts'
import { agent, broker, hostRoot, kubeconfigOfNobody, type Told } from './harness.ts'

t.setTimeout(120_000)
const api = await kubernetes(t)
const { nodes } = await startLibvirt(t)
const [node] = nodes as [(typeof nodes)[number]]
const virt = await connectLibvirt(node.testUri, { keepalive: false })
t.teardown(() => virt.close())
const [domain] = (await virt.domains()) as [Awaited<ReturnType<typeof virt.domains>>[number]]
/** It is `paused` when this is through, and the agent has told so. */
const pause = async (sink: Sink, host: string) => {
  const from = sink.told.length
  await virt.call(p.domainSuspend, { domain })
  await eventually('the pause', async () =>
    sink.told
      .slice(from)
      .some(({ type, data }) => type === 'domain.changed' && data['event'] === 'suspended' && data['host'] === host)
  )
  await virt.call(p.domainResume, { domain })
}
type Sink = Awaited<ReturnType<typeof broker>>
const gone = ({ told }: Sink): Told[] =>
  told.filter(({ type, data }) => type === 'domain.stopped' || data['instances']?.some((one: any) => one.state === 'gone'))
const isRising = (sequences: string[]): boolean => sequences.every((one, at) => at === 0 || one > (sequences[at - 1] ?? ''))

async function alone(t: { teardown(fn: () => unknown): void }, host: string) {
  const root = await hostRoot(t)
  const sink = await broker(t)
  const env = {
    NODE_NAME: host,
    KUBECONFIG: await kubeconfigOfNobody(root),
    K_SINK: sink.url,
    LIBVIRT_URI: node.testUri,
    HOST_ROOT: root,
    STATE_FOLDER: join(root, 'state'),
    HEARTBEAT: '100ms'
  }
  return { root, sink, env }
}

t.test('a frozen libvirtd (SIGSTOP) is lost, not gone; thawed, it is back and nothing ended (NA-7, NA-9)', async t => {
  const { sink, env } = await alone(t, 'frozen')
  await agent(t, { ...env, KEEPALIVE: '200ms' })
  await sink.seen('instances.reported')
  node.kill('STOP')
  t.teardown(() => node.kill('CONT'))
  const lost = await sink.seen('libvirt.lost')
  const beats = () => sink.told.filter(({ type }) => type === 'heartbeat.sent').length
  const before = beats()
  await eventually('its heart beats on', async () => beats() > before + 3)
  node.kill('CONT')
  const { data } = await sink.seen('libvirt.restored', ({ sequence }) => sequence > lost.sequence)
  await sink.seen('instances.reported', event => event.data['epoch'] === data['epoch'] && event.data['instances'].length === 1)
  await pause(sink, 'frozen') // T-2: the events are asked for again
  t.strictSame(gone(sink), [])
})

t.test('the clock jumps a day ahead and a month back, the agent is started anew: numbers only grow (NA-14)', async t => {
  const { sink, env, root } = await alone(t, 'clock')
  let offMs = 0
  const clock = () => new Date(Date.now() + offMs)
  const first = await agent(t, env, clock)
  await sink.seen('instances.reported')
  for (const days of [1, -30]) {
    offMs = days * 86_400_000
    await pause(sink, 'clock')
  }
  await first.close()
  const kept = JSON.parse(await readFile(join(root, 'state/state.json'), 'utf8')) as { sequence: number; epoch: number }
  const last = sink.told.at(-1)
  t.ok(kept.sequence >= Number(last?.sequence), 'what a later process begins above')
  await agent(t, env, clock)
  await sink.seen('instances.reported', ({ data }) => data['epoch'] > kept.epoch) // of the new process
  await pause(sink, 'clock')
  // what the first process had sent without an answer the second sends again, the same: at least once
  const events = new Set(sink.told.map(event => JSON.stringify(event)))
  t.equal(new Set(sink.told.map(({ id }) => id)).size, events.size, 'no id for two events')
  t.ok(isRising([...new Set(sink.facts().map(({ sequence }) => sequence))]), 'in order')
  t.strictSame(gone(sink), [])
})

t.test('the disk of the spool is full: events arrive all the same, and the status says so (NA-14)', async t => {
  const { sink, env, root } = await alone(t, 'full')
  const folder = join(root, 'full')
  await mkdir(folder)
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder])
  t.teardown(() => void execFileSync('umount', ['-l', folder]))
  await writeFile(join(folder, 'ballast'), Buffer.alloc(64 * 1024)).catch(() => {}) // as much as fits
  const running = await agent(t, { ...env, STATE_FOLDER: folder })
  await sink.seen('instances.reported')
  await pause(sink, 'full')
  t.ok(isRising(sink.facts().map(({ sequence }) => sequence)))
  const problems = await eventually('the metric', async () => {
    const text = await (await fetch(`${running.url}/metrics`)).text()
    return Number(/^drover_agent_problems (\d+)/m.exec(text)?.[1])
  })
  t.ok(problems > 0, 'told as degraded')
  await running.close()
})

t.test('NA-10: a consumer that does not read loses what a listing tells again, never how a domain ended', async t => {
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const facts = watch({
    uri: node.testUri,
    mayConnect: async () => {},
    nextEpoch: () => 1,
    clock: () => new Date(),
    log: pino({ level: 'silent' }),
    signal: stop.signal,
    fullCheckMs: 3_600_000,
    capacity: 20
  })
  const next = async () => {
    const { value, done } = await facts.next()
    if (done) throw new Error('the facts ended')
    return value
  }
  while ((await next()).kind !== 'snapshot');
  const xml = `<domain type='test'><name>short</name><memory>65536</memory><vcpu>1</vcpu><os><type>hvm</type></os></domain>`
  const short = await virt.call(p.domainCreateXml, { xml })
  await virt.call(p.domainDestroy, { domain: short })
  for (let n = 0; n < 100; n++) {
    await virt.call(p.domainSuspend, { domain })
    await virt.call(p.domainResume, { domain })
  }
  const seen = []
  let fact = await next()
  for (; fact.kind !== 'overflow'; fact = await next()) seen.push(fact)
  const dropped = fact.dropped
  for (; fact.kind !== 'snapshot'; fact = await next()) seen.push(fact)
  t.ok(dropped > 100, `${dropped} dropped`)
  const told = seen.flatMap(one =>
    one.kind === 'event' && one.event.kind === 'lifecycle' ? [`${one.event.domain.name} ${one.event.event}`] : []
  )
  t.ok(told.includes('short stopped'), told.join(', '))
  t.match(fact.domains, [{ id: domain.uuid, state: 'running' }], 'a listing follows')
})

t.test('the API server goes and comes back: what happened meanwhile is in the status (NA-7)', async t => {
  const { sink, env, root } = await alone(t, `door-${api.namespace}`)
  const admin = await connect({ manager: 'test', kubeconfig: api.kubeconfig })
  t.teardown(() => admin.close())
  const own = await asServiceAccount(t, api, 'hypervisor-agent.yaml', 'hypervisor-agent')
  const text = await readFile(own, 'utf8')
  const server = new URL(/https:\/\/[^\s"']+/.exec(text)?.[0] ?? '')
  const open = new Set<Socket>()
  let isOpen = true
  const door = createServer(socket => {
    if (!isOpen) {
      socket.destroy()
      return
    }
    const behind = dial(Number(server.port), server.hostname)
    for (const [one, other] of [
      [socket, behind],
      [behind, socket]
    ] as const) {
      open.add(one)
      one
        .on('error', () => {})
        .on('close', () => {
          open.delete(one)
          other.destroy()
        })
      one.pipe(other)
    }
  }).listen(0, '127.0.0.1')
  await once(door, 'listening')
  t.teardown(() => {
    for (const socket of open) socket.destroy()
    door.close()
  })
  const kubeconfig = join(root, 'through-the-door')
  await writeFile(kubeconfig, text.replace(server.origin, `https://127.0.0.1:${(door.address() as AddressInfo).port}`))
  const name = env.NODE_NAME
  await admin.create(Hypervisor, { metadata: { name }, spec: {} })
  await agent(t, { ...env, KUBECONFIG: kubeconfig, STATUS_GAP: '50ms' })
  const state = async () => (await admin.find(Hypervisor, name))?.status?.instances?.[0]?.state
  await eventually('the status', async () => (await state()) === 'running')

  isOpen = false
  for (const socket of open) socket.destroy()
  await pause(sink, name)
  await virt.call(p.domainSuspend, { domain })
  await admin.patch(Hypervisor, { name }, { spec: { overcommit: { cpu: 4 } } })
  t.equal(await state(), 'running', 'nobody could write')
  isOpen = true
  await eventually('the status', async () => (await state()) === 'paused')
  await eventually('what was asked meanwhile', async () => {
    const { capacity, effectiveCapacity } = (await admin.find(Hypervisor, name))?.status ?? {}
    return Number(effectiveCapacity?.['cpu']) === Number(capacity?.['cpu']) * 4
  })
  await virt.call(p.domainResume, { domain })
})

t.test('twenty agents in one process share nothing: each tells its own, and one that ends harms no other', async t => {
  const hosts = Array.from({ length: 20 }, (_, at) => `many-${at}`)
  const sink = await broker(t)
  const agents = await Promise.all(
    hosts.map(async host => {
      const { env } = await alone(t, host)
      return agent(t, { ...env, K_SINK: sink.url })
    })
  )
  const by = (host: string, from = 0) => sink.told.slice(from).filter(({ partitionkey }) => partitionkey === host)
  const reported =
    (from = 0) =>
    (host: string) =>
      by(host, from).some(({ type }) => type === 'instances.reported')
  await eventually('all of them', async () => hosts.every(host => reported()(host)))
  await Promise.all(agents.slice(0, 10).map(one => one.close()))
  const from = sink.told.length
  await virt.call(p.domainSuspend, { domain })
  await virt.call(p.domainResume, { domain })
  await eventually('those that live', async () => hosts.slice(10).every(host => reported(from)(host)))
  for (const host of hosts) {
    const own = by(host)
    t.ok(
      own.every(({ id, data }) => id.startsWith(`${host}/`) && data['host'] === host),
      host
    )
    t.ok(isRising(own.filter(({ type }) => type !== 'heartbeat.sent').map(({ sequence }) => sequence)))
    t.equal(own.filter(({ type }) => type === 'libvirt.restored').length, 1)
  }
  t.strictSame(gone(sink), [])
  t.strictSame(sink.malformed, [])
})
