// What the agents as they are shipped tell of a host. The same cases on the simulated daemons and on the real ones: what npm start shows is what a
// hypervisor would show.
import { connect, procedures } from 'node-libvirt'
import type { Test } from 'tap'
import type { Broker } from '../../agents/hypervisor/harness.ts'
import type { Sink } from '../../agents/ovs/lab.ts'
import { create } from '../../node-libvirt/real.ts'

export interface LibvirtHost {
  uri: string
  /** Kills the process of the guest, as the kernel would that is out of memory. */
  crash(guest: { name: string; uuid: string }): void
  killLibvirtd(): Promise<void>
  startLibvirtd(): Promise<void>
}

/** The hypervisor agent runs on the host and tells the sink. */
export function hypervisorAgentContract(t: Test, host: LibvirtHost, sink: Broker): void {
  const about = (guest: { uuid: string }, event?: string, detail?: string) => (told: { data: Record<string, unknown> }) =>
    told.data['server'] === guest.uuid &&
    (event === undefined || told.data['event'] === event) &&
    (detail === undefined || told.data['detail'] === detail)

  t.test('NA-31, NA-8: the first word is of libvirt and of everything that is there', async t => {
    await sink.seen('libvirt.restored')
    await sink.seen('instances.reported', ({ data }) => data['full'] === true)
    t.ok(await sink.seen('heartbeat.sent'))
  })

  t.test('NA-31: the life of a guest, each step told once and in its order', async t => {
    const virt = await connect(host.uri)
    t.teardown(() => virt.close())
    const guest = await create(virt, 'life')
    await sink.seen('domain.changed', about(guest, 'started', 'booted'))
    await virt.call(procedures.domainSuspend, { domain: guest })
    await sink.seen('domain.changed', about(guest, 'suspended', 'paused'))
    await virt.call(procedures.domainResume, { domain: guest })
    await sink.seen('domain.changed', about(guest, 'resumed', 'unpaused'))
    await virt.call(procedures.domainReset, { domain: guest })
    await sink.seen('domain.rebooted', about(guest))
    await virt.call(procedures.domainDestroy, { domain: guest })
    await sink.seen('domain.stopped', about(guest, 'stopped', 'destroyed'))
    const told = sink.facts().flatMap(({ data }) => (about(guest)({ data }) && data['event'] ? [String(data['event'])] : []))
    // libvirt tells of QEMU's first breath before it calls the guest started, and whether it hears QEMU's last word is a matter of luck
    t.strictSame(
      told.filter(event => event !== 'shutdown'),
      ['resumed', 'started', 'suspended', 'resumed', 'stopped']
    )
  })

  t.test('NA-31: a guest whose process is killed has crashed', async t => {
    const virt = await connect(host.uri)
    t.teardown(() => virt.close())
    const guest = await create(virt, 'victim')
    await sink.seen('domain.changed', about(guest, 'started'))
    host.crash(guest)
    t.match((await sink.seen('domain.crashed', about(guest))).data, { event: 'stopped', detail: /crashed|failed/ })
  })

  t.test('NA-31, NA-9: libvirtd dies and comes back: nothing that runs is called gone', async t => {
    const virt = await connect(host.uri)
    const guest = await create(virt, 'stays')
    await sink.seen('domain.changed', about(guest, 'started'))
    const before = sink.told.length
    await host.killLibvirtd()
    await virt.close().catch(() => {}) // it died with its server
    await sink.seen('libvirt.lost')
    await host.startLibvirtd()
    const isLater = (told: unknown): boolean => sink.told.indexOf(told as never) >= before
    await sink.seen('libvirt.restored', isLater)
    await sink.seen('instances.reported', told => {
      const { full, instances } = told.data as { full: boolean; instances: Array<{ id: string; active: boolean }> }
      return isLater(told) && full && instances.some(({ id, active }) => id === guest.uuid && active)
    })
    t.notOk(sink.find('domain.stopped', about(guest)))
    t.notOk(sink.find('domain.crashed', about(guest)))
    t.strictSame(sink.malformed, [])
  })
}

export interface SwitchHost {
  /** The members of bond0. */
  members: readonly [string, string]
  setCarrier: (member: string, up: boolean) => void
}

/** The OVS agent runs on the host and tells the sink; both members of the bond are up. */
export function ovsAgentContract(t: Test, { members, setCarrier }: SwitchHost, sink: Sink): void {
  const [first, second] = members

  t.test('OV-74: one cable: the member is lost and restored, the bond goes on', async t => {
    setCarrier(first, false)
    const lost = await sink.next('bond-member.lost', `bond0/${first}`)
    t.match(lost.data, { before: 'Usable', after: 'NotUsable', reason: 'LinkDown', evidence: { bond: 'bond0' } })
    setCarrier(first, true)
    const restored = await sink.next('bond-member.restored', `bond0/${first}`)
    t.equal(restored.data.detectedAt, lost.data.detectedAt, 'OV-30')
    t.notOk(sink.heard.some(({ type }) => type.includes('.bond.lost.')))
  })

  t.test('OV-26: both cables: the bond is lost, with both of them as evidence, and restored', async t => {
    for (const member of members) setCarrier(member, false)
    const lost = await sink.next('bond.lost', 'bond0')
    t.match(lost.data, { after: 'Down', evidence: { members: `${first}=LinkDown,${second}=LinkDown` } })
    for (const member of members) setCarrier(member, true)
    await sink.next('bond.restored', 'bond0')
  })
}
