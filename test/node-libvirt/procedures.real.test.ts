// Every row, on the real libvirtd: what comes back is what a real guest has
import t from 'tap'
import { paramsByField, procedures as p, type Procedure } from 'node-libvirt'
import { startLibvirt } from '../servers/libvirt.ts'
import { diskXml, guestXml, writeGuestImage } from '../servers/libvirt/guest.ts'
import { create, libvirtNeeded, listen, open } from './real.ts'

await libvirtNeeded()
const { dir, nodes } = await startLibvirt(t)
const [node] = nodes
if (!node) throw new Error('no node')
await writeGuestImage(`${dir}/g.img`)

const called = new Set<number>()
const virt = await open(t, node.uri)
const call: typeof virt.call = (row, ...rest) => {
  called.add(row.number)
  return virt.call(row, ...rest)
}
const nic = "<interface type='ethernet'><target dev='vm0'/><mac address='52:54:00:00:00:01'/></interface>"
const domain = await create(virt, 'g', { devices: diskXml(`${dir}/g.img`) + nic, balloon: true, flags: p.START.paused })

t.test('connection and host', async t => {
  t.equal(await call(p.connectGetType), 'QEMU')
  t.match(p.formatVersion(await call(p.connectGetVersion)), /^\d+\.\d+\.\d+$/)
  t.match(p.formatVersion(await call(p.connectGetLibVersion)), /^\d+\.\d+\.\d+$/)
  t.equal(await call(p.connectGetHostname), 'a')
  t.equal(await call(p.connectGetUri), 'qemu:///system')
  t.ok((await call(p.connectGetMaxVcpus, { type: 'qemu' })) >= 16)
  t.match(await call(p.connectGetCapabilities), /<capabilities>/)
  t.match(await call(p.connectGetDomainCapabilities, { virtType: 'qemu', arch: 'x86_64' }), /<domainCapabilities>/)
  t.equal(await call(p.connectSupportsFeature, { feature: p.FEATURE.migrationParams }), true)
  t.equal(await call(p.connectSupportsFeature, { feature: 1 }), false)
})

t.test('node', async t => {
  const info = await call(p.nodeGetInfo)
  t.match(info, { model: 'x86_64', cpus: Number, memoryKiB: BigInt })
  t.ok(info.memoryKiB > 0n && info.cpus > 0 && info.numaNodes > 0)
  t.strictSame(
    (await virt.nodeCpuStats()).map(({ field }) => field),
    ['kernel', 'user', 'idle', 'iowait']
  )
  t.match(await virt.nodeMemoryStats({ cell: 0 }), [{ field: 'total' }, { field: 'free' }])
  t.ok((await call(p.nodeGetFreeMemory)) > 0n)
  t.ok(((await call(p.nodeGetCellsFreeMemory, { startCell: 0, maxCells: 8 }))[0] ?? 0n) > 0n)
  t.equal((await call(p.nodeGetFreePages, { pageKiB: [4] })).length, 1)
  const { cpus, online, map } = await call(p.nodeGetCpuMap)
  t.equal(map.length, cpus)
  t.equal(map.filter(Boolean).length, online)
})

t.test('finding domains', async t => {
  t.strictSame(await call(p.connectListAllDomains), [domain])
  t.strictSame(await call(p.connectListAllDomains, { flags: p.LIST.inactive }), [])
  t.strictSame(await call(p.domainLookupByName, { name: 'g' }), domain)
  t.strictSame(await call(p.domainLookupByUuid, { uuid: domain.uuid }), domain)
  t.strictSame(await call(p.domainLookupById, { id: domain.id }), domain)
  await t.rejects(call(p.domainLookupByName, { name: 'nobody' }), { code: 'no-domain', server: { number: 42 } })
})

t.test('reading one', async t => {
  t.match(await call(p.domainGetXmlDesc, { domain }), new RegExp(domain.uuid))
  t.match(await call(p.domainGetInfo, { domain }), { state: 'paused', maxMemoryKiB: 65_536n, memoryKiB: 65_536n, vcpus: 1 })
  t.strictSame(await call(p.domainGetState, { domain }), { state: 'paused', reason: 'user' })
  t.equal(await call(p.domainGetOsType, { domain }), 'hvm')
  t.equal(await call(p.domainIsActive, { domain }), true)
  t.equal(await call(p.domainIsPersistent, { domain }), false)
  t.match(await call(p.domainGetControlInfo, { domain }), { state: 'ok', details: 'none' })
  t.ok((await call(p.domainMemoryStats, { domain })).some(({ tag, value }) => tag === 'rss' && value > 0n))
  await call(p.domainSetMetadata, { domain, type: p.METADATA.title, metadata: 'the guest' })
  t.equal(await call(p.domainGetMetadata, { domain, type: p.METADATA.title }), 'the guest')
  await t.rejects(call(p.domainGetMetadata, { domain, type: p.METADATA.description }), { code: 'no-metadata' })
  await t.rejects(call(p.domainGetGuestInfo, { domain }), { code: /unsupported|invalid-state|agent/ }, 'no agent in this guest')
})

t.test('all statistics at once', async t => {
  const [stats] = await call(p.connectGetAllDomainStats, { stats: p.STATS.state | p.STATS.balloon })
  t.strictSame(stats?.domain, domain)
  t.strictSame(paramsByField(stats?.params ?? []).get('state.state'), { field: 'state.state', type: 'int', value: 3 })
  t.match(paramsByField(stats?.params ?? []).get('balloon.current'), { type: 'ullong', value: 65_536n })
  t.equal((await call(p.connectGetAllDomainStats, { domains: [domain] })).length, 1)
})

t.test('devices', async t => {
  t.match(await call(p.domainGetBlockInfo, { domain, path: 'hda' }), { capacityBytes: 1_048_576n })
  t.match(await call(p.domainBlockStats, { domain, path: 'hda' }), { readRequests: BigInt, errors: -1n })
  t.ok(paramsByField(await call(p.domainBlockStatsFlags, { domain, path: 'hda' })).has('rd_operations'))
  t.equal(await call(p.domainGetBlockJobInfo, { domain, path: 'hda' }), null)
  t.strictSame(await call(p.domainGetDiskErrors, { domain }), [])
  t.match(await call(p.domainInterfaceStats, { domain, device: 'vm0' }), { received: { errors: 0n }, sent: { drops: 0n } })
  t.strictSame(
    await call(p.domainInterfaceAddresses, { domain, source: p.ADDRESS_SOURCE.lease }),
    [],
    'no network of libvirt here'
  )
})

t.test('jobs and the limits of migration', async t => {
  t.match(await call(p.domainGetJobInfo, { domain }), { type: 'none', data: { total: 0n } })
  t.strictSame(await call(p.domainGetJobStats, { domain }), { type: 'none', params: [] })
  await t.rejects(call(p.domainAbortJob, { domain }), { code: 'invalid-state', server: { number: 55 } })
  await call(p.domainMigrateSetMaxSpeed, { domain, mibPerSecond: 40n })
  t.equal(await call(p.domainMigrateGetMaxSpeed, { domain }), 40n)
  t.ok((await call(p.domainMigrateGetMaxDowntime, { domain })) > 0n)
})

t.test('from defined to gone', async t => {
  const { seen } = await listen(virt)
  const twin = await call(p.domainDefineXml, { xml: guestXml('twin', { devices: diskXml(`${dir}/g.img`) }) })
  t.equal(twin.id, -1)
  const running = await call(p.domainCreate, { domain: twin })
  t.ok(running.id > 0)
  await call(p.domainSuspend, { domain: running })
  t.strictSame(await virt.domainState(running), { state: 'paused', reason: 'user' })
  await call(p.domainResume, { domain: running })
  await call(p.domainReset, { domain: running })
  await call(p.domainReboot, { domain: running })
  await call(p.domainShutdown, { domain: running })
  await call(p.domainDestroy, { domain: running })
  await seen('lifecycle', 'twin', ({ event }) => event === 'stopped')
  await call(p.domainUndefine, { domain: twin })
  await t.rejects(virt.domainState(twin), { code: 'no-domain' })
  const made = await call(p.domainCreateXml, { xml: guestXml('short'), flags: p.START.autodestroy })
  await call(p.domainDestroy, { domain: made })
})

t.test('hot-plug', async t => {
  const xml = `<disk type='file' device='disk'><driver name='qemu' type='raw'/><source file='${dir}/b.img'/><target dev='vdb' bus='virtio'/></disk>`
  await writeGuestImage(`${dir}/b.img`)
  await call(p.domainAttachDevice, { domain, xml })
  t.match(await virt.domainXml(domain), /vdb/)
  await call(p.domainDetachDevice, { domain, xml })
})

t.test('closing', async t => {
  const other = await open(t, node.uri)
  await other.call(p.connectUnregisterCloseCallback)
  called.add(p.connectUnregisterCloseCallback.number)
})

t.test('no row was left out', async t => {
  const byMethods = [
    p.nodeGetCpuStats,
    p.nodeGetMemoryStats,
    p.connectOpen,
    p.connectClose,
    p.connectRegisterCloseCallback,
    p.authList,
    p.eventCallbackRegister,
    p.eventCallbackDeregister
  ]
  const elsewhere = [
    // polkit.real.test.ts, transports.real.test.ts
    p.authPolkit,
    p.authSaslInit,
    p.authSaslStart,
    p.authSaslStep,
    // migration.real.test.ts
    p.domainMigratePerform,
    p.domainMigrateStartPostCopy,
    p.domainMigrateSetMaxDowntime
  ]
  const known = new Set([...called, ...[...byMethods, ...elsewhere].map(({ number }) => number)])
  const rows = Object.entries<unknown>(p).filter((entry): entry is [string, Procedure<unknown, unknown>] => {
    return typeof entry[1] === 'object' && entry[1] !== null && 'decode' in entry[1]
  })
  t.strictSame(
    rows.filter(([, { number }]) => !known.has(number)).map(([name]) => name),
    []
  )
})
