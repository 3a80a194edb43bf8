// What the agents as they are shipped tell of a host, for every kind of event that the simulated daemons have. The same cases on the simulated daemons and on the real ones: what npm start shows is what a
// hypervisor would show.
import { connect, procedures, type Domain } from 'node-libvirt'
import type { Test } from 'tap'
import type { Broker, Told } from '../../agents/hypervisor/harness.ts'
import type { Sink } from '../../agents/ovs/lab.ts'
import { create } from '../../node-libvirt/real.ts'

type Guest = Pick<Domain, 'name' | 'uuid' | 'id'>

export interface LibvirtHost {
  /** Its name, and that of the host that guests move to: the agents of both tell the sink. */
  name: string
  target: string
  uri: string
  /** A running guest whose watchdog pauses or resets it, or whose disk fails as soon as it is read. */
  withWatchdog(name: string, action: 'pause' | 'reset'): Promise<Guest>
  fireWatchdog(guest: Guest): Promise<void>
  withFullDisk(name: string): Promise<Guest>
  /** A guest whose memory changes so fast that a move without `arrives` never ends by itself. */
  withMuchToMove(name: string): Promise<Guest>
  /** Resolves when the move has ended: it has arrived, or was aborted. */
  move(guest: Guest, arrives: boolean): Promise<void>
  /** Kills the process of the guest, as the kernel would that is out of memory. */
  crash(guest: { name: string; uuid: string }): void
  killLibvirtd(): Promise<void>
  startLibvirtd(): Promise<void>
}

const reports =
  (at: string, { uuid }: Guest, state: string) =>
  ({ data }: Told) =>
    data['host'] === at &&
    (data['instances'] as Array<{ id: string; state: string }>).some(one => one.id === uuid && one.state === state)

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

  const eventsOf = (guest: Guest): string[] =>
    sink
      .facts()
      .flatMap(({ type, data }) =>
        about(guest)({ data }) ? [[type, data['event'], data['detail']].filter(Boolean).join(' ')] : []
      )

  t.test('NA-31: a watchdog that pauses its guest, and one that resets it', async t => {
    const paused = await host.withWatchdog('dog-pause', 'pause')
    await host.fireWatchdog(paused)
    t.match((await sink.seen('watchdog.fired', about(paused))).data, { action: 'pause' })
    await sink.seen('domain.changed', about(paused, 'suspended', 'watchdog'))
    const told = eventsOf(paused)
    t.ok(told.indexOf('watchdog.fired') < told.indexOf('domain.changed suspended watchdog'), told.join(', '))
    await sink.seen('instances.reported', reports(host.name, paused, 'paused'))
    const reset = await host.withWatchdog('dog-reset', 'reset')
    await host.fireWatchdog(reset)
    t.match((await sink.seen('watchdog.fired', about(reset))).data, { action: 'reset' })
    await sink.seen('domain.rebooted', about(reset))
  })

  t.test('NA-31: an I/O error is told with its reason, then the pause that follows; it is no end of the guest', async t => {
    const guest = await host.withFullDisk('full')
    const { data } = await sink.seen('disk.failed', about(guest))
    t.match(data, { device: /^v/, path: String, action: 'pause', reason: 'enospc' })
    await sink.seen('domain.changed', about(guest, 'suspended', 'io-error'))
    const told = eventsOf(guest)
    t.ok(told.indexOf('disk.failed') < told.indexOf('domain.changed suspended io-error'), told.join(', '))
    await sink.seen('instances.reported', reports(host.name, guest, 'paused'))
    t.notOk(sink.find('domain.stopped', about(guest)))
  })

  const ends = (guest: Guest): string[] =>
    sink.told.flatMap(({ type, data }) =>
      type === 'migration.ended' && about(guest)({ data }) ? [`${data['host']} ${data['result']}`] : []
    )
  const endAt = (at: string, guest: Guest) =>
    sink.seen('migration.ended', event => event.data['host'] === at && about(guest)(event))
  const bothEnds = (guest: Guest) => Promise.all([endAt(host.name, guest), endAt(host.target, guest)])

  t.test('NA-17, NA-18: a move that is aborted: sampled, failed at both ends, and the guest runs on', async t => {
    const virt = await connect(host.uri)
    t.teardown(() => virt.close())
    const guest = await host.withMuchToMove('aborted')
    const moved = host.move(guest, false)
    const isSample = (event: Told): boolean =>
      event.data['host'] === host.name && about(guest)(event) && Number(event.data['stats'].memTotal) > 0
    t.match((await sink.seen('migration.progressed', isSample)).data, {
      origin: host.name,
      stats: { type: 'unbounded', operation: 'migration_out', phase: 'Running' }
    })
    await virt.call(procedures.domainAbortJob, { domain: guest })
    await moved
    const [here, there] = await bothEnds(guest)
    t.match(here.data, { origin: host.name, result: 'failed', stats: { type: 'failed' } })
    t.match(there.data, { destination: host.target, result: 'failed', stats: { operation: 'migration_in' } })
    t.match(await virt.domainState(guest), { state: 'running' })
    await sink.seen('instances.reported', reports(host.target, guest, 'gone'))
    t.strictSame(ends(guest).toSorted(), [`${host.name} failed`, `${host.target} failed`], 'each end told once')
    await virt.call(procedures.domainDestroy, { domain: guest })
  })

  t.test('NA-18, NA-19: a move that arrives: a success at both ends, and nothing that looks like a fault', async t => {
    const virt = await connect(host.uri)
    t.teardown(() => virt.close())
    const guest = await create(virt, 'moves')
    await sink.seen('domain.changed', about(guest, 'started'))
    await host.move(guest, true)
    const [here, there] = await bothEnds(guest)
    t.match(here.data, { origin: host.name, result: 'success', stats: { type: 'completed', operation: 'migration_out' } })
    t.match(there.data, { destination: host.target, result: 'success', stats: { type: 'completed', operation: 'migration_in' } })
    for (const { data } of [here, there]) t.ok(Number(data['stats'].memTotal) >= 64 * 2 ** 20)
    await sink.seen('instances.reported', reports(host.name, guest, 'gone'))
    await sink.seen('instances.reported', reports(host.target, guest, 'running'))
    t.strictSame(ends(guest).toSorted(), [`${host.name} success`, `${host.target} success`], 'each end told once')
    for (const type of ['domain.stopped', 'domain.crashed']) t.notOk(sink.find(type, about(guest)), type)
  })

  t.test('NA-31, NA-9: libvirtd dies and comes back: nothing that runs is called gone', async t => {
    const virt = await connect(host.uri)
    const guest = await create(virt, 'stays')
    await sink.seen('domain.changed', about(guest, 'started'))
    const before = sink.told.length
    await host.killLibvirtd()
    await virt.close().catch(() => {}) // it died with its server
    const isLater = (told: Told): boolean => sink.told.indexOf(told) >= before && told.data['host'] === host.name
    await sink.seen('libvirt.lost', isLater)
    await host.startLibvirtd()
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
  /** Between ovn-controller and the southbound database. */
  setOvn: (connected: boolean) => void
}

/** The OVS agent runs on the host and tells the sink; both members of the bond are up. */
export function ovsAgentContract(t: Test, { members, setCarrier, setOvn }: SwitchHost, sink: Sink): void {
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

  t.test('OV-73: ovn-controller is cut off and connected again, and neither is said of the bond', async t => {
    setOvn(false)
    const lost = await sink.next('ovn-controller.disconnected', 'ovn-controller')
    t.match(lost.data, { before: 'Connected', after: 'Disconnected', reason: 'Disconnected' })
    setOvn(true)
    const back = await sink.next('ovn-controller.reconnected', 'ovn-controller')
    t.match(back.data, { after: 'Connected', detectedAt: lost.data.detectedAt })
    t.equal(sink.heard.filter(({ type }) => type.includes('.bond.lost.')).length, 1)
  })
}
