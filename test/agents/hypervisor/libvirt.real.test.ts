// The agent on the real libvirtd with real guests, and on the real API server, under exactly the role of knative/hypervisor-agent.yaml.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect as connectLibvirt, procedures } from 'node-libvirt'
import t from 'tap'
import { connect } from '../../../shared/kube/index.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { create } from '../../node-libvirt/real.ts'
import { eventually } from '../../servers/eventually.ts'
import { asServiceAccount } from '../../servers/identity.ts'
import { kubernetes } from '../../servers/kubernetes.ts'
import { startLibvirt } from '../../servers/libvirt.ts'
import { agent, broker, hostRoot } from './harness.ts'

t.setTimeout(120_000)
const whole = t // what outlives a sub-test
const api = await kubernetes(t)
const kubeconfig = await asServiceAccount(t, api, 'hypervisor-agent.yaml', 'hypervisor-agent')
const admin = await connect({ manager: 'test', kubeconfig: api.kubeconfig })
t.teardown(() => admin.close())
const { nodes } = await startLibvirt(t, { nodes: [{ name: 'a', restart: true }] })
const [node] = nodes as [(typeof nodes)[number]]
const virt = await connectLibvirt(node.uri)
t.teardown(() => virt.close())
const sink = await broker(t)
const root = await hostRoot(t)
const name = `hv-${api.namespace}`
const env = {
  NODE_NAME: name,
  KUBECONFIG: kubeconfig,
  K_SINK: sink.url,
  LIBVIRT_URI: node.uri,
  HOST_ROOT: root,
  STATE_FOLDER: join(root, 'state'),
  STATUS_GAP: '50ms',
  HEARTBEAT: '200ms'
}
const status = async () => (await admin.find(Hypervisor, name))?.status
const condition = async (type: string) => (await status())?.conditions?.find(known => known.type === type)

const persistent = await virt.call(procedures.domainDefineXml, {
  xml: `<domain type='qemu'><name>off</name><memory unit='MiB'>256</memory><vcpu>3</vcpu><os><type arch='x86_64' machine='pc'>hvm</type></os></domain>`
})
const first = await agent(t, env)

t.test('NA-7: any start order: the agent waits for its object, and tells what it sees meanwhile', async t => {
  await sink.seen('libvirt.restored')
  const report = await sink.seen('instances.reported', ({ data }) => data['full'] === true)
  t.match(report.data['instances'], [{ id: persistent.uuid, name: 'off', active: false, state: 'off' }])
  t.match(report, { partitionkey: name, subject: name, data: { host: name, bootId: '11111111-2222-4333-8444-555555555555' } })
  t.equal(report.id, `${name}/${report.data['epoch']}/${Number(report.sequence)}`, 'NA-14')
  await admin.create(Hypervisor, { metadata: { name }, spec: { overcommit: { cpu: 1.5, memory: 1 } } })
})

t.test('facts become the status', async t => {
  const known = await eventually('the status', async () => {
    const now = await status()
    return now?.agent !== undefined && now.instances?.length === 1 && now
  })
  t.match(known.libVirtVersion, /^\d+\.\d+\.\d+$/)
  t.match(known.hypervisorVersion, /^\d+\.\d+\.\d+$/)
  t.match(known, { numInstances: 1, instances: [{ id: persistent.uuid, name: 'off', active: false, state: 'off' }] })
  t.match(known.domainCapabilities, { arch: 'x86_64', hypervisorType: 'qemu' })
  t.ok(known.domainCapabilities?.supportedDevices?.includes('disk/cdrom'), 'NA-6')
  t.ok(known.domainCapabilities?.supportedCpuModes?.some(mode => mode.startsWith('mode/')))
  t.strictSame(known.allocation, { cpu: '3', memory: '256Mi' })
  t.equal(known.capacity?.['cpu'], known.capabilities?.cpus)
  t.equal(Number(known.effectiveCapacity?.['cpu']), Math.floor(Number(known.capacity?.['cpu']) * 1.5), 'NA-5')
  t.match(known.operatingSystem, {
    version: '1443.3',
    prettyVersion: 'Garden Linux 1443.3',
    gardenLinuxFeatures: ['kvm', 'log'],
    kernelCommandLine: 'ro quiet'
  })
  t.match(known.agent, { bootId: '11111111-2222-4333-8444-555555555555', uptimeSeconds: 4711, libvirtUri: node.uri })
  t.match(await condition('LibVirtConnection'), { status: 'True', reason: 'Connected' })
})

t.test('a life of a guest, told at once and in order', async t => {
  const guest = await create(virt, 'g1')
  const started = await sink.seen('domain.changed', ({ data }) => data['name'] === 'g1' && data['event'] === 'started')
  t.match(started, { subject: `${name}/${guest.uuid}`, data: { server: guest.uuid, detail: 'booted' } })
  await eventually('it in the status', async () =>
    (await status())?.instances?.some(({ id, active, state }) => id === guest.uuid && active && state === 'running')
  )
  await virt.call(procedures.domainSuspend, { domain: guest })
  await virt.call(procedures.domainResume, { domain: guest })
  await virt.call(procedures.domainReset, { domain: guest })
  await sink.seen('domain.rebooted', ({ data }) => data['server'] === guest.uuid)
  await virt.call(procedures.domainDestroy, { domain: guest })
  await sink.seen('domain.stopped', ({ data }) => data['server'] === guest.uuid && data['detail'] === 'destroyed')
  await sink.seen('instances.reported', ({ data }) =>
    data['instances'].some((one: any) => one.id === guest.uuid && one.state === 'gone')
  )
  await eventually('it gone from the status', async () => (await status())?.instances?.length === 1)
  const life = sink.facts().flatMap(({ data }) => (data['server'] === guest.uuid && data['event'] ? [String(data['event'])] : []))
  const order = ['started', 'suspended', 'resumed', 'stopped'].map(event => life.lastIndexOf(event))
  t.strictSame(
    order,
    order.toSorted((a, b) => a - b),
    life.join(' ')
  )
  const numbers = sink.facts().map(({ sequence }) => sequence)
  t.strictSame(numbers, [...numbers].sort(), 'by sequence')
})

t.test('a guest whose QEMU is killed has crashed', async t => {
  const guest = await create(virt, 'victim')
  await sink.seen('domain.changed', ({ data }) => data['server'] === guest.uuid)
  node.run('kill -9 $(cat /run/libvirt/qemu/victim.pid)')
  const crashed = await sink.seen('domain.crashed', ({ data }) => data['server'] === guest.uuid)
  t.match(crashed.data, { event: 'stopped', detail: /crashed|failed/ })
})

t.test('ha.md §2: of a guest that libvirtd cannot manage any more the status says so, by its control info', async t => {
  const domain = await create(virt, 'unmanaged')
  t.throws(() => node.virsh(`qemu-monitor-command unmanaged --hmp 'xp /1500000bx 0'`), 'a reply that is too long for libvirtd')
  await sink.seen('domain-control.lost', ({ data }) => data['server'] === domain.uuid)
  const entry = async () => (await status())?.instances?.find(({ id }) => id === domain.uuid)
  const told = await eventually('its control info', async () => {
    const now = await entry()
    return now?.control && now
  })
  t.match(told, { state: 'running', control: { state: 'error', details: 'monitor' } })
  t.ok(Math.abs(Date.parse(told.control?.checkedAt ?? '') - Date.now()) < 60_000)
  await virt.call(procedures.domainDestroy, { domain })
  await eventually('it is gone', async () => (await entry()) === undefined)
})

t.test('NA-7…9: libvirtd is killed and comes back: lost, restored, nothing gone', async t => {
  const guest = await create(virt, 'stays')
  await sink.seen('domain.changed', ({ data }) => data['server'] === guest.uuid)
  const before = sink.told.length
  const epoch = sink.told.at(-1)?.data['epoch'] as number
  node.kill('KILL')
  await sink.seen('libvirt.lost')
  const restored = await sink.seen('libvirt.restored', ({ data }) => data['epoch'] > epoch)
  const report = await sink.seen(
    'instances.reported',
    ({ data }) => data['full'] === true && data['epoch'] === restored.data['epoch']
  )
  t.ok(report.data['instances'].some((one: any) => one.id === guest.uuid && one.active))
  const later = sink.told
    .slice(before)
    .filter(({ type, data }) => type === 'domain.stopped' || data['instances']?.some((one: any) => one.state === 'gone'))
  t.strictSame(later, [], 'nothing was told to be gone')
  await eventually('the condition back', async () => (await condition('LibVirtConnection'))?.status === 'True')
})

t.test('NA-9: a guest that ends while libvirtd is away is found out by the listing', async t => {
  const now = await connectLibvirt(node.uri)
  const guest = await create(now, 'leaves')
  await sink.seen('domain.changed', ({ data }) => data['name'] === 'leaves')
  node.kill('STOP')
  node.run('kill -9 $(cat /run/libvirt/qemu/leaves.pid); kill -KILL $(cat /run/libvirt/libvirtd.pid)')
  const gone = (event: { data: any }) => event.data.server === guest.uuid
  t.ok(await eventually('its end', async () => sink.find('domain.stopped', gone) ?? sink.find('domain.crashed', gone)))
})

t.test('NA-14: the broker is away, the agent is restarted: nothing lost, nothing twice, in order', async t => {
  sink.state.away = true
  const again = await connectLibvirt(node.uri)
  const guests = []
  for (const at of [1, 2, 3]) guests.push(await create(again, `spooled-${at}`))
  const spooled = join(root, 'state/spool')
  await eventually('it on disk', async () => {
    const { readdir } = await import('node:fs/promises')
    const text = await Promise.all((await readdir(spooled)).map(file => readFile(join(spooled, file), 'utf8')))
    return text.join('').includes('spooled-3')
  })
  const offSince = async () => (await status())?.instances?.find(({ id }) => id === persistent.uuid)?.since
  const before = await offSince()
  await first.close()
  const second = await agent(whole, env)
  sink.state.away = false
  for (const guest of guests) await sink.seen('domain.changed', ({ data }) => data['server'] === guest.uuid)
  await eventually('the new process', async () => sink.told.filter(({ type }) => type === 'libvirt.restored').length >= 3)
  const ids = sink.told.map(({ id }) => id)
  t.equal(new Set(ids).size, ids.length, 'none twice')
  const order = sink.facts().map(({ sequence }) => sequence)
  t.strictSame(order, [...order].sort(), 'in order')
  t.strictSame(
    second.lines.filter(({ level }) => level >= 50),
    []
  )
  for (const guest of guests) await again.call(procedures.domainDestroy, { domain: guest })
  await eventually('a status of the new process', async () =>
    (await status())?.instances?.every(({ name: one }) => !one.startsWith('spooled'))
  )
  t.equal(await offSince(), before, 'what was off before is not off since the restart')
  await again.close()
})

t.test('HV-7, NA-12: nothing is written when nothing changes but the heartbeat', async t => {
  const quiet = await eventually('quiet', async () => {
    const beats = () => sink.told.filter(({ type }) => type === 'heartbeat.sent').length
    const one = await admin.find(Hypervisor, name)
    const from = beats()
    await eventually('three heartbeats', async () => beats() >= from + 3)
    const two = await admin.find(Hypervisor, name)
    return one?.metadata.resourceVersion === two?.metadata.resourceVersion && two
  })
  const mine = quiet.metadata.managedFields?.filter(({ manager }) => manager === 'drover-hypervisor-agent')
  t.match(mine, [{ operation: 'Apply', subresource: 'status' }], 'one manager, status only')
})

t.test('every event is as the table says', async t => {
  t.strictSame(sink.malformed, [])
  const beats = sink.told.filter(({ type }) => type === 'heartbeat.sent')
  t.ok(beats.length > 2)
  t.match(beats.at(-1)?.data, { host: name, uptimeSeconds: 4711 })
})
