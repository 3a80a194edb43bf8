// The scenarios that come along, each played to its end: the whole platform, the agents as they are shipped, virtual time.
import t from 'tap'
import { perform } from '../../../shared/local/fleet/actions/perform.ts'
import { playScenario, readScenario, shippedScenarios } from '../../../shared/local/fleet/scenario.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { startLab } from './platform.ts'

t.setTimeout(600_000)
const minutes = 60_000
const lab = await startLab()
t.teardown(() => lab.close())
const { time, fleet, kube } = lab
const said: string[] = []
const play = async (name: string) => playScenario(fleet, await readScenario(name), line => said.push(line))
const readiness = (host: string) => time.during(lab.readiness(host))
const ready = (host: string, reason: string, patienceMs = 10 * minutes) =>
  time.until(`${host} ${reason}`, async () => (await lab.readiness(host))?.reason === reason, patienceMs)
const serversOn = (host: string) => [...fleet.cloud.world.instances.values()].filter(instance => instance.host === host)
const domainsOn = (host: string) => fleet.host(host)?.domains.all() ?? []

t.test('there are four', async t => {
  t.strictSame(await shippedScenarios(), ['a-bad-vm', 'bond-down-at-night', 'first-drain', 'nova-outage-during-a-drain'])
})

t.test('first-drain: the host is emptied, its servers run elsewhere in the zone, and it comes back', async t => {
  const names = serversOn('node001-zone-a').map(({ name }) => name)
  t.equal(names.length, 2)
  await play('first-drain')
  await ready('node001-zone-a', 'Evicted')
  t.strictSame(serversOn('node001-zone-a'), [], 'in Nova')
  t.strictSame(domainsOn('node001-zone-a'), [], 'in libvirt')
  for (const name of names) {
    const instance = serversOn('node002-zone-a').find(one => one.name === name)
    t.equal(fleet.host('node002-zone-a')?.domains.find(instance?.id ?? '')?.state.state, 'running', name)
  }
  t.ok(
    lab.handled().some(line => line.startsWith('sap.cloud.kvm.migration.ended.v1 node001-zone-a/')),
    'the agent at the source told of it'
  )
  await time.until(
    'what the agent tells',
    async () => (await kube.find(Hypervisor, 'node001-zone-a'))?.status?.numInstances === 0,
    minutes
  )
  await ready('node001-zone-a', 'Ready')
})

t.test('bond-down-at-night: a warning, then no servers any more, then well again', async t => {
  await play('bond-down-at-night')
  await time.until('the warning', async () => /network/.test((await lab.readiness('node002-zone-a'))?.message ?? ''), 2 * minutes)
  t.equal((await readiness('node002-zone-a'))?.reason, 'Ready', 'OV-51: a degraded network is a warning')
  const nova = fleet.cloud.host('node002-zone-a')
  await time.until('no new servers', async () => nova.status === 'disabled', 5 * minutes)
  t.match(nova.disabledReason, /BondLost bond0/, 'functions/ha has reacted to the agent')
  t.not((await readiness('node002-zone-a'))?.reason, 'Ready')
  await time.advance(28 * minutes, 5000) // nobody looks
  await ready('node002-zone-a', 'Ready')
  t.equal(nova.status, 'enabled')
  for (const noun of ['bond-member.lost.v1 bond0/eth0', 'bond.lost.v1 bond0', 'bond.restored.v1 bond0'])
    t.ok(lab.handled().includes(`io.c5c3.ovs.${noun}`), noun)
})

t.test('a-bad-vm: each fault is told by the agent; the host goes on', async t => {
  const server = serversOn('node001-zone-b')[0]
  const others = domainsOn('node001-zone-b').filter(({ uuid }) => uuid !== server?.id)
  await play('a-bad-vm')
  await time.until('the crash', async () => said.some(line => line.includes('has crashed')), 5 * minutes)
  await time.advance(minutes)
  for (const noun of ['watchdog.fired', 'disk.failed', 'domain.crashed'])
    t.ok(lab.handled().includes(`sap.cloud.kvm.${noun}.v1 node001-zone-b/${server?.id}`), noun)
  t.equal((await readiness('node001-zone-b'))?.reason, 'Ready')
  t.ok(others.every(({ state }) => state.state === 'running'))
})

t.test('nova-outage-during-a-drain: it waits, goes on, and ends', async t => {
  await play('nova-outage-during-a-drain')
  await time.until('the outage', async () => fleet.nova === 'down', minutes)
  await time.advance(minutes)
  t.not((await readiness('node001-zone-b'))?.reason, 'Evicted', 'never said of a host of which nobody knows')
  await ready('node001-zone-b', 'Evicted', 20 * minutes)
  t.strictSame(domainsOn('node001-zone-b'), [])
  await time.during(perform(fleet, 'undrain-host', { host: 'node001-zone-b' }))
  await ready('node001-zone-b', 'Ready')
})

t.end() // tap itself would wait for a timer, and those stand still
