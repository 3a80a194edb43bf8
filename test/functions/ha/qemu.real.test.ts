// What becomes of real guests: a real libvirtd with its QEMUs, the agent as a process of its own, functions/ha under its own role on a real API
// server. Nova is the fake one, with the domains' own UUIDs, and what it is asked for really happens to them (compute.ts).
import { rm, writeFile } from 'node:fs/promises'
import t from 'tap'
import { procedures as p, type Domain } from 'node-libvirt'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { libvirtNeeded } from '../../node-libvirt/real.ts'
import { eventually } from '../../servers/eventually.ts'
import { asServiceAccount } from '../../servers/identity.ts'
import { kubernetes } from '../../servers/real-kubernetes.ts'
import { startLibvirt } from '../../servers/libvirt.ts'
import { diskXml, writeGuestImage } from '../../servers/libvirt/guest.ts'
import { agentEnv, agentProcess, compute } from './compute.ts'
import { patienceMs, stage } from './stage.ts'

await libvirtNeeded()
t.setTimeout(900_000)
const whole = t
const api = await kubernetes(t)
const host = `hv-${api.namespace}`
const { dir, nodes, run } = await startLibvirt(t, { nodes: [{ name: 'a', restart: true }] })
const [node] = nodes as [(typeof nodes)[number]]
const short = 'vm: { provenSeconds: 2, watchdogPauseSeconds: 10, diskRecheckSeconds: 4, burstSeconds: 5 }'
// many faults at once on one host would be the host's (HA-15): servers.test.ts has that
const { fake, nova, admin, running, told, ha, incident, ended, look, restarted } = await stage(
  t,
  api,
  host,
  `mode: drover\n${short}\ncorrelation: { vms: 1000 }\n`
)
const heard: Array<{ type: string; data: Record<string, unknown> }> = []
const sink = await running.relay((type, body) => heard.push({ type, data: JSON.parse(body) as Record<string, unknown> }))
const { server, virt, reconnect, killQemu, monitor, failures } = await compute(t, node, fake, host)
const kubeconfig = await asServiceAccount(t, api, 'hypervisor-agent.yaml', 'hypervisor-agent')
const env = await agentEnv(t, { host, kubeconfig, sink, node })

await writeGuestImage(`${dir}/g.img`)
const disk = diskXml(`${dir}/g.img`)
const panic = "<panic model='isa'/>"
const slot = "<address type='pci' domain='0x0' bus='0x0' slot='0x5' function='0x0'/>"
const watchdog = (action: string): string => `<watchdog model='i6300esb' action='${action}'>${slot}</watchdog>`
const actions = ['none', 'inject-nmi', 'reset', 'pause', 'dump', 'poweroff', 'shutdown'] as const
const remote = (
  port: number
) => `<disk type='network' device='disk'><driver name='qemu' type='raw' error_policy='stop' rerror_policy='stop'/>
  <source protocol='nbd' name='exp'><host name='127.0.0.1' port='${port}'/></source><target dev='vda' bus='virtio'/></disk>`

const guests = new Map<string, Domain>()
const plain = ['killed', 'destroyed', 'unmanaged', 'wanted-off', 'wanted-new', 'deleted', 'burst', 'paused', 'quiet']
const add = async (...given: Parameters<typeof server>): Promise<void> => void guests.set(given[0], await server(...given))
await Promise.all([
  ...plain.map(name => add(name)),
  add('panicked', panic),
  add('guest', disk),
  // only `shutdown` needs the program on the disk, which answers the power button and keeps a processor busy; firmware alone halts
  ...actions.map(action => add(action, (action === 'shutdown' ? disk : '') + watchdog(action), p.START.paused))
])
const id = (name: string): string => guests.get(name)?.uuid ?? ''
const domain = (name: string): Domain => guests.get(name) as Domain

const status = async () => (await admin.find(Hypervisor, host))?.status
/** All guests in the status, of an agent that began to listen after this call. */
async function seenAnew(): Promise<void> {
  const from = heard.length
  const full = ({ type, data }: (typeof heard)[number]): boolean =>
    type.endsWith('.instances.reported.v1') &&
    data['full'] === true &&
    (data['instances'] as unknown[] | undefined)?.length === guests.size
  await eventually('a full report', async () => heard.slice(from).some(full), patienceMs)
  await eventually(
    'it in the status',
    async () => {
      const { instances, conditions } = (await status()) ?? {}
      const link = conditions?.find(({ type }) => type === 'LibVirtConnection')
      return instances?.length === guests.size && link?.status === 'True'
    },
    patienceMs
  )
}
const ordered = (): string[] =>
  fake.requests
    .filter(({ method }) => method !== 'GET')
    .map(({ path }) => path)
    .filter(path => /action|os-services/.test(path))

const begun = seenAnew()
const first = await agentProcess(t, env)
await begun

t.test('T-26, T-1, T-4: libvirtd is killed and comes back, then the agent: its guests run on, and nothing happens', async t => {
  const back = seenAnew()
  node.kill('KILL')
  await back
  await reconnect()
  t.ok(
    heard.some(({ type }) => type.endsWith('.libvirt.lost.v1')),
    'the loss was told'
  )
  t.ok(first.runs(), 'T-4: by the same process, which did not end with its connection')
  await first.kill()
  const again = seenAnew()
  await agentProcess(whole, env)
  await again
  t.equal(await look(), 204)
  t.strictSame((await ha()).incidents ?? [], [])
  t.strictSame(ordered(), [], 'nobody was asked for anything')
  t.equal(fake.host(host).status, 'enabled')
})

const program = ['o /w 0xcf8 0x80002860', 'o /h 0xcfc 0x0007', 'o /w 0xcf8 0x80002868', 'o /b 0xcfc 0x02'] // as a driver would start it

t.test('what broke gets what fits', async t => {
  for (const action of actions) {
    await monitor(action, ...program)
    await virt().call(p.domainResume, { domain: domain(action) })
  }
  const full = 'error-pread=ENOSPC error-pread-rate=100%'
  run(`nbdkit -i 127.0.0.1 -p 10809 --filter=error memory 1M ${full}`)
  await writeFile(`${dir}/full`, '')
  run(`nbdkit -i 127.0.0.1 -p 10810 --filter=error memory 1M ${full} error-pread-file=${dir}/full`)
  // T-20: users' wishes, and at the same time the guest dies
  await killQemu('wanted-off')
  await nova('POST', `/servers/${id('wanted-off')}/action`, { 'os-stop': null })
  await nova('POST', `/servers/${id('wanted-new')}/action`, { reboot: { type: 'HARD' } })
  await nova('DELETE', `/servers/${id('deleted')}`)
  await killQemu('killed')
  await monitor('panicked', 'o /b 0x505 1')
  await monitor('guest', 'o /h 0x604 0x2000') // ACPI S5, as the guest would enter it
  await virt().call(p.domainDestroy, { domain: domain('destroyed') })
  await virt().call(p.domainSuspend, { domain: domain('paused') })
  for (let n = 0; n < 3; n++) await virt().call(p.domainReset, { domain: domain('burst') })
  await t.rejects(monitor('unmanaged', 'xp /1500000bx 0'), 'a reply that is too long for libvirtd: it gives the monitor up')
  guests.set('disk', await server('disk', remote(10_809)))
  guests.set('healed', await server('healed', remote(10_810)))
  // healed as soon as QEMU has paused the guest: it is resumed once, diskRecheckSeconds later
  const isPaused = async (): Promise<boolean> => (await virt().domainState(domain('healed'))).reason === 'io-error'
  await eventually('a pause by the full disk', isPaused, patienceMs)
  await rm(`${dir}/full`)

  const ends: Array<[name: string, state: string, kind: string | RegExp, rule: RegExp]> = [
    ['killed', 'Recovered', 'crashed', /^Fault$/],
    ['panicked', 'Recovered', 'crashed', /^Fault$/],
    ['guest', 'Closed', 'stoppedByGuest', /^Fault$/],
    ['destroyed', 'Reported', 'destroyed', /^Fault$/],
    // killed and stopped at the same moment: which of the two libvirt reports is open, the request explains either
    ['wanted-off', 'Closed', /^(crashed|destroyed)$/, /^(Request|Task)Explains$/],
    ['deleted', 'Closed', 'destroyed', /^NotInNova$/],
    ['wanted-new', 'Closed', 'destroyed', /^(Runs|RequestExplains|TaskExplains)$/],
    ['burst', 'Closed', 'rebooted', /^Runs$/],
    ['unmanaged', 'Reported', 'controlLost', /^Fault$/],
    ['disk', 'Reported', 'disk', /^Fault$/],
    ['healed', 'Recovered', 'disk', /^Fault$/],
    ['none', 'Closed', 'watchdog', /^CountedOnly$/],
    ['inject-nmi', 'Closed', 'watchdog', /^CountedOnly$/],
    ['reset', 'Closed', 'watchdog', /^Runs$/],
    ['pause', 'Recovered', 'watchdog', /^Fault$/],
    ['dump', 'Closed', 'watchdog', /^Runs$/], // libvirt tells it as a pause, and lets it run when it has its dump
    ['poweroff', 'Recovered', '', /^Fault$/],
    ['shutdown', 'Recovered', '', /^Fault$/]
  ]
  for (const [name, state, kind, rule] of ends) {
    const found = await ended(id(name), kind)
    t.match(found, { state, rule, ...(kind && { kind }) }, `${name}: ${found.event}: ${found.reason}`)
  }
  // the history has room for ten, and more than that was decided here
  const { decisionId } = (await incident(id('destroyed'))) ?? {}
  const closed = await told.seen('decision.closed', ({ data }) => data['decision'] === decisionId)
  t.match(closed.data, { reason: 'OutOfBand' })

  const again = ['killed', 'panicked', 'pause', 'poweroff', 'shutdown']
  t.strictSame(restarted().toSorted(), [...again, 'wanted-new'].map(id).toSorted(), 'each once (T-29); wanted-new by its user')
  for (const name of ['disk', 'healed'])
    t.match((await incident(id(name)))?.attempts, [{ action: 'resume' }], `${name} was resumed once, and not by Nova`)
  t.match(await virt().domainState(domain('healed')), { state: 'running' })
  t.match(await virt().domainState(domain('disk')), { state: 'paused', reason: 'io-error' })
  for (const name of again) {
    t.match(await virt().domainState(domain(name)), { state: 'running' }, `${name} runs again`)
    await told.seen('server.recovered', ({ data }) => data['server'] === id(name))
  }
  t.strictSame(
    told.told.filter(({ type }) => type === 'server.blocked'),
    []
  )
  for (const name of ['guest', 'destroyed', 'wanted-off'])
    t.match(await virt().domainState(domain(name)), { state: 'off' }, `${name} stays off`)
  t.match(await incident(id('unmanaged')), { reason: /cannot be managed \(error, monitor\)/ }, 'confirmed by control info')
  t.match(await virt().domainState(domain('unmanaged')), { state: 'running' }, 'and it runs on')
  for (const name of ['paused', 'quiet']) t.equal(await incident(id(name)), undefined, `${name}: no incident`)
  t.match(await virt().domainState(domain('paused')), { state: 'paused' }, 'an operator’s pause is nobody else’s')
  t.ok(((await incident(id('burst')))?.count ?? 0) >= 2, 'T-29: several reboots are one')
  t.equal(fake.host(host).status, 'enabled', 'HA-1: no host is touched for its guests')
  t.strictSame(failures, [])
})
