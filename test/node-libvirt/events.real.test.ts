// Every kind of event that can be produced without KVM, by a real QEMU under the real libvirtd. The guest is played through QEMU's
// monitor: what an operating system would write to a port is written there.
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect as connectSocket } from 'node:net'
import t from 'tap'
import { eventKinds, procedures as p } from 'node-libvirt'
import { startLibvirt } from '../servers/libvirt.ts'
import { diskXml, guestXml, writeGuestImage } from '../servers/libvirt/guest.ts'
import { create, libvirtNeeded, listen, open } from './real.ts'
import { until } from './until.ts'

await libvirtNeeded()
const { dir, nodes, run } = await startLibvirt(t)
const [node] = nodes
if (!node) throw new Error('no node')
const virt = await open(t, node.uri)
const { events, seen } = await listen(virt)
const monitor = (name: string, ...commands: string[]) =>
  commands.map(command => node.virsh(`qemu-monitor-command ${name} --hmp '${command}'`)).join('')

const slot = (n: number) => `<address type='pci' domain='0x0' bus='0x0' slot='0x${n.toString(16)}' function='0x0'/>`
/** The address that PCI configuration space has for a register of the device in this slot. */
const register = (n: number, offset: number) => `o /w 0xcf8 0x${(0x8000_0000 + (n << 11) + offset).toString(16)}`

const serialXml = (name: string) => `<serial type='file'><source path='${dir}/${name}.serial'/></serial>`
/** A B is what the guest says first. */
const boots = async (name: string, times: number) => (await readFile(`${dir}/${name}.serial`, 'utf8')) === 'B'.repeat(times)

t.test('lifecycle: a guest that boots, sleeps, and switches itself off', async t => {
  await writeGuestImage(`${dir}/g.img`)
  const domain = await create(virt, 'g', { devices: diskXml(`${dir}/g.img`) + serialXml('g'), flags: p.START.paused })
  t.match(await seen('lifecycle', 'g', ({ event }) => event === 'started'), { detail: 'booted', domain: { uuid: domain.uuid } })
  t.match(await seen('lifecycle', 'g', ({ event }) => event === 'suspended'), { detail: 'paused' })
  await virt.call(p.domainResume, { domain })
  t.match(await seen('lifecycle', 'g', ({ event }) => event === 'resumed'), { detail: 'unpaused' })
  await until(() => boots('g', 1))
  await virt.call(p.domainReset, { domain })
  await seen('reboot', 'g')
  await until(() => boots('g', 2)) // until then the BIOS reads the CMOS too, and would move the index between our two writes
  monitor('g', 'o /b 0x70 4', 'o /b 0x71 5') // the hour of the CMOS clock
  t.type((await seen('rtc-change', 'g')).offsetSeconds, 'bigint')
  monitor('g', 'o /h 0x604 0x2000') // ACPI S5, as the guest would enter it
  t.match(await seen('lifecycle', 'g', ({ event }) => event === 'shutdown'), { detail: 'by-guest' })
  t.match(await seen('lifecycle', 'g', ({ event }) => event === 'stopped'), { detail: 'shutdown' })
})

t.test('define, undefine, metadata', async t => {
  const domain = await virt.call(p.domainDefineXml, {
    xml: "<domain type='qemu'><name>d</name><memory>65536</memory><os><type>hvm</type></os></domain>"
  })
  t.match(await seen('lifecycle', 'd', ({ event }) => event === 'defined'), { detail: 'added' })
  await virt.call(p.domainSetMetadata, { domain, type: p.METADATA.element, metadata: '<x/>', key: 'k', uri: 'urn:k', flags: 2 })
  t.match(await seen('metadata-change', 'd'), { type: 'element', namespace: 'urn:k' })
  await virt.call(p.domainUndefine, { domain })
  t.match(await seen('lifecycle', 'd', ({ event }) => event === 'undefined'), { detail: 'removed' })
})

t.test('a killed QEMU, a panic', async t => {
  await create(virt, 'k')
  node.run('kill -9 $(cat /run/libvirt/qemu/k.pid)')
  t.match(await seen('lifecycle', 'k', ({ event }) => event === 'stopped'), { detail: 'failed' })
  await create(virt, 'c', { devices: "<panic model='isa'/>" })
  monitor('c', 'o /b 0x505 1')
  t.match(await seen('lifecycle', 'c', ({ event }) => event === 'crashed'), { detail: 'panicked' })
  t.match(await seen('lifecycle', 'c', ({ event }) => event === 'stopped'), { detail: 'crashed' })
})

t.test('watchdog', async t => {
  const domain = await create(virt, 'w', {
    devices: `<watchdog model='i6300esb' action='pause'>${slot(5)}</watchdog>`,
    flags: p.START.paused
  })
  monitor('w', register(5, 0x60), 'o /h 0xcfc 0x0007', register(5, 0x68), 'o /b 0xcfc 0x02')
  await virt.call(p.domainResume, { domain })
  t.match(await seen('watchdog', 'w'), { action: 'pause' })
  t.match(await seen('lifecycle', 'w', ({ detail }) => detail === 'watchdog'), { event: 'suspended' })
})

t.test('I/O error', async t => {
  run('nbdkit -i 127.0.0.1 -p 10809 --filter=error memory 1M error-pread=ENOSPC error-pread-rate=100%')
  const domain = await create(virt, 'e', {
    devices: `<disk type='network' device='disk'><driver name='qemu' type='raw' error_policy='stop' rerror_policy='stop'/>
      <source protocol='nbd' name='exp'><host name='127.0.0.1' port='10809'/></source><target dev='vda' bus='virtio'/></disk>`
  })
  t.match(await seen('io-error', 'e'), { path: 'exp', device: 'virtio-disk0', action: 'pause' })
  t.match(await seen('io-error-reason', 'e'), { path: 'exp', device: 'virtio-disk0', action: 'pause', reason: 'enospc' })
  t.match(await seen('lifecycle', 'e', ({ event }) => event === 'suspended'), { detail: 'io-error' })
  t.strictSame(await virt.call(p.domainGetDiskErrors, { domain }), [{ disk: 'vda', error: 'no-space' }])
  t.strictSame(await virt.domainState(domain), { state: 'paused', reason: 'io-error' })
})

t.test('devices that come, go and change', async t => {
  node.run(
    `cd ${dir} && qemu-img create -q -f raw base.img 1M && qemu-img create -q -f qcow2 -b base.img -F raw top.img && qemu-img create -q -f raw plug.img 1M`
  )
  const devices = `
    <disk type='file' device='disk'><driver name='qemu' type='qcow2'/><source file='${dir}/top.img'/><target dev='vda' bus='virtio'/></disk>
    <disk type='file' device='cdrom'><source file='${dir}/missing.iso' startupPolicy='optional'/><target dev='hdc' bus='ide'/><readonly/></disk>
    <channel type='unix'><target type='virtio' name='org.qemu.guest_agent.0'/></channel>
    <graphics type='vnc' socket='${dir}/vnc'/>`
  const domain = await create(virt, 'v', { devices, balloon: true })
  t.match(await seen('disk-change', 'v'), {
    oldPath: `${dir}/missing.iso`,
    newPath: null,
    device: 'ide0-1-0',
    reason: 'missing-on-start'
  })
  t.match(await seen('agent-lifecycle', 'v'), { state: 'disconnected', reason: 'domain-started' })

  const xml = `<disk type='file' device='disk'><driver name='qemu' type='raw'/><source file='${dir}/plug.img'/><target dev='vdb' bus='virtio'/>${slot(9)}<alias name='ua-plug'/></disk>`
  await virt.call(p.domainAttachDevice, { domain, xml })
  t.match(await seen('device-added', 'v'), { device: 'ua-plug' })
  await virt.call(p.domainDetachDevice, { domain, xml })
  monitor('v', 'o /w 0xae08 0x200') // ACPI hot-plug: eject slot 9
  t.match(await seen('device-removed', 'v'), { device: 'ua-plug' })

  node.virsh('blkdeviotune v vda --total-iops-sec 1000')
  t.match(await seen('tunable', 'v'), { params: [{ field: String }, { field: String }] })
  node.virsh('domblkthreshold v vda 4096')
  monitor('v', 'qemu-io -d /machine/peripheral/virtio-disk0/virtio-backend "write 0 64k"')
  t.match(await seen('block-threshold', 'v'), { device: /^vda/, thresholdBytes: 4096n })
  node.virsh('blockpull v vda --wait')
  t.match(await seen('block-job', 'v'), { disk: `${dir}/top.img`, type: 'pull', status: 'completed' })
  t.match(await seen('block-job-2', 'v'), { disk: 'vda', type: 'pull', status: 'completed' })
  node.virsh(`change-media v hdc --insert ${dir}/base.img`)
  node.virsh('change-media v hdc --eject')
  t.match(await seen('tray-change', 'v', ({ reason }) => reason === 'open'), { device: 'ide0-1-0' })

  const [, port] =
    /Class 0255(?:(?!device)[^])*?PCI device 1af4:1002[^]*?BAR0: I\/O at (0x[0-9a-f]+)/.exec(monitor('v', 'info pci')) ?? []
  monitor('v', `o /w ${Number(port) + 24} 0x1000`) // the balloon's `actual`, in pages, as a driver reports it
  t.match(await seen('balloon-change', 'v'), { actualKiB: BigInt })

  const vnc = connectSocket(`${dir}/vnc`)
  await once(vnc, 'data') // the server's version
  t.match(await seen('graphics', 'v', ({ phase }) => phase === 'connect'), { remote: { family: 'unix' } })
  vnc.destroy()
  await seen('graphics', 'v', ({ phase }) => phase === 'disconnect')
})

t.test('sleep', async t => {
  const pm = "<pm><suspend-to-mem enabled='yes'/><suspend-to-disk enabled='yes'/></pm>"
  for (const name of ['s3', 's4']) {
    const xml = guestXml(name, { devices: diskXml(`${dir}/g.img`) + serialXml(name) }).replace('<devices>', `${pm}<devices>`)
    await virt.call(p.domainCreateXml, { xml })
    await until(() => boots(name, 1))
  }
  monitor('s3', 'o /h 0x604 0x2400') // ACPI S3
  await seen('pm-suspend', 's3')
  t.match(await seen('lifecycle', 's3', ({ event }) => event === 'pm-suspended'), { detail: 'memory' })
  monitor('s3', 'system_wakeup')
  await seen('pm-wakeup', 's3')
  t.match(await seen('lifecycle', 's3', ({ detail }) => detail === 'wakeup'), { event: 'started' })
  monitor('s4', 'o /h 0x604 0x2800') // ACPI S4
  await seen('pm-suspend-disk', 's4')
})

t.test('control error', async t => {
  const domain = await create(virt, 'x')
  t.throws(() => monitor('x', 'xp /1500000bx 0'), 'a reply that is too long for libvirtd')
  await seen('control-error', 'x')
  t.match(await virt.call(p.domainGetControlInfo, { domain }), { state: 'error', details: 'monitor' })
})

t.test('a kind that this libvirt does not have is refused, by a number that says little', async t => {
  await t.rejects(virt.call(p.eventCallbackRegister, { eventId: 99 }), { code: 'server', server: { number: 1 } })
})

t.test('what was not seen', async t => {
  const kinds = new Set(events.map(({ kind }) => kind))
  // the first two need a second host (migration.real.test.ts); the third a guest's operating system, the last KVM: packets.test.ts
  const elsewhere = ['migration-iteration', 'job-completed', 'device-removal-failed', 'memory-failure']
  t.strictSame(
    eventKinds.filter(kind => !kinds.has(kind)),
    elsewhere
  )
})
