// Everything that can be done to the fleet, done and undone on the whole platform in virtual time; and the door through which it is done.
import t from 'tap'
import { actionNames, type ActionName } from '../../../shared/local/fleet/actions/catalogue.ts'
import { perform, type Args } from '../../../shared/local/fleet/actions/perform.ts'
import { shownFleet } from '../../../shared/local/fleet/shown.ts'
import type { Kube } from '../../../shared/kube/index.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { startLab } from './platform.ts'

t.setTimeout(600_000)
const early: string[] = []

/** The next write is refused, as by a server that is too busy. */
function failOnce(kube: Kube): void {
  const apply = kube.apply.bind(kube)
  Object.assign(kube, {
    apply: async () => {
      Object.assign(kube, { apply })
      early.push('refused')
      throw new Error('too busy')
    }
  })
}

const lab = await startLab({ hosts: 14, zones: 2, vms: 1 }, async fleet => {
  early.push(`${fleet.arrived} of ${fleet.hosts.size}`)
  await perform(fleet, 'pull-cable', { host: 'node007-zone-b' }).catch((err: Error) => early.push(err.message))
  failOnce(fleet.kube)
})
t.teardown(() => lab.close())
const { time, fleet, kube, door } = lab
const done = new Set<ActionName>()
const act = (name: ActionName, args: Args = {}) => {
  done.add(name)
  return time.during(perform(fleet, name, args))
}
const host = 'node001-zone-a'
const shown = (name = host) => shownFleet(fleet).hosts.find(one => one.name === name)
const nova = (name = host) => fleet.cloud.host(name)

t.test('hosts of a large fleet come in a dozen at a time, from every zone, and are told apart until then', async t => {
  t.strictSame(early, ['12 of 14', 'node007-zone-b is not in the fleet yet; 12 of 14 hosts are', 'refused'])
  t.equal(fleet.arrived, 14, 'what failed once is tried again')
})

t.test('nothing was wrong on the way into service', async t => {
  const { items } = await time.during(kube.list(Hypervisor))
  for (const { metadata, status } of items) {
    const failed = status?.history?.filter(({ to }) => to === 'Failing') ?? []
    t.strictSame(failed, [], metadata.name)
  }
})

t.test('cables, bonds and OVN', async t => {
  const up = () => shown()?.links.map(link => link.up)
  await act('pull-cable', { host })
  t.strictSame(up(), [false, true], 'the first of the bond')
  await act('pull-cable', { host })
  t.strictSame(up(), [false, false], 'then the next')
  await t.rejects(act('pull-cable', { host }), /every cable of node001-zone-a is out already/)
  await act('plug-cable', { host, link: 'eth1' })
  t.strictSame(up(), [false, true])
  await act('fail-bond', { host })
  t.strictSame(up(), [false, false])
  await act('heal-bond', { host })
  t.strictSame(up(), [true, true])
  await act('cut-ovn', { host })
  t.notOk(fleet.host(host)?.ovn.connected)
  await act('join-ovn', { host })
  t.ok(fleet.host(host)?.ovn.connected)
})

t.test('a server: crash, watchdog, disk', async t => {
  const vm = `${host}/1`
  const state = () => shown()?.vms[0]?.state
  await act('fail-disk', { vm })
  t.equal(state(), 'paused')
  await t.rejects(act('crash-vm', { vm: 'nobody' }), /there is no server nobody/)
  await act('heal-disk', { vm })
  t.equal(state(), 'running')
  await act('fire-watchdog', { vm, action: 'none' })
  t.equal(state(), 'running')
  await act('crash-vm', { vm })
  t.equal(state(), 'off')
  await time.advance(2000)
  await act('start-vm', { vm }).catch(() => {}) // or functions/ha was faster
  await time.until('it runs again', async () => state() === 'running', 120_000)
})

t.test('daemons, agents and power', async t => {
  await act('kill-libvirt', { host })
  t.equal(shown()?.libvirt, 'stopped')
  await t.rejects(act('kill-libvirt', { host }), /does not run/)
  await act('start-libvirt', { host })
  t.equal(shown()?.libvirt, 'running')
  await act('kill-agent', { host, agent: 'both' })
  t.strictSame(shown()?.agents, { hypervisor: 'stopped', ovs: 'stopped' })
  await act('start-agent', { host, agent: 'both' })
  t.strictSame(shown()?.agents, { hypervisor: 'running', ovs: 'running' })
  const bootId = fleet.host(host)?.bootId
  await act('power-off', { host })
  matchWhole(t, shown(), { power: 'off', libvirt: 'stopped', vms: [] })
  await t.rejects(act('pull-cable', { host }), /has no power/)
  await act('power-on', { host })
  t.match(shown(), { power: 'on', libvirt: 'running' })
  t.not(fleet.host(host)?.bootId, bootId)
  await act('reboot-host', { host, seconds: 5 })
  t.equal(shown()?.power, 'off')
  await time.until('it is back', async () => shown()?.power === 'on' && shown()?.agents.ovs === 'running', 60_000)
})

t.test('the cloud: a full zone, moves, Nova, and a drain', async t => {
  await act('fill-zone', { zone: 'zone-a' })
  await t.rejects(act('fill-zone', { zone: 'zone-a' }), /zone-a is full already/)
  await t.rejects(act('fill-zone', { zone: 'zone-q' }), /there is no zone zone-q; there are zone-a, zone-b/)
  await act('free-zone', { zone: 'zone-a' })
  await act('fail-moves', { host })
  t.ok(nova().liveMoveFails)
  const usual = nova().liveMoveMs
  await act('slow-moves', { host, seconds: 90 })
  t.equal(nova().liveMoveMs, 90_000)
  await act('heal-moves', { host })
  t.match(nova(), { liveMoveFails: false, liveMoveMs: usual })
  for (const [name, state] of [
    ['slow-nova', 'slow'],
    ['stop-nova', 'down'],
    ['heal-nova', 'up']
  ] as const) {
    await act(name)
    t.equal(fleet.nova, state)
  }
  const asked = async () => (await time.during(kube.find(Hypervisor, host)))?.spec.maintenance
  await act('drain-host', { host })
  t.equal(await asked(), 'manual')
  await act('undrain-host', { host })
  t.equal(await asked(), '')
})

t.test('heal-all undoes what is open, the newest first, and every action was tried', async t => {
  await act('heal-all')
  await act('pull-cable', { host })
  await act('power-off', { host: 'node002-zone-a' })
  await act('stop-nova')
  t.equal(shownFleet(fleet).undo.length, 3)
  t.match(await act('heal-all'), '3 things undone')
  matchWhole(t, shownFleet(fleet), { nova: 'up', undo: [] })
  t.ok(shownFleet(fleet).hosts.every(({ power, links }) => power === 'on' && links.every(link => link.up)))
  t.equal(await act('heal-all'), 'nothing was wrong')
  t.strictSame(
    actionNames.filter(name => !done.has(name)),
    []
  )
})

t.test('the door: who has the token, and what is asked in a way that makes no sense', async t => {
  const ask = async (
    path: string,
    { method = 'GET', body, token = door.token }: { method?: string; body?: string; token?: string } = {}
  ) => {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await time.during(fetch(door.url + path, { method, headers, ...(body !== undefined && { body }) }))
    return { status: answer.status, said: (await time.during(answer.json())) as { did?: string; error?: string } }
  }
  const post = (path: string, body: unknown) => ask(path, { method: 'POST', body: JSON.stringify(body) })
  t.match(await ask('/actions', { token: 'guessed' }), { status: 401 })
  t.match(await ask('/nothing'), { status: 404 })
  t.match(await post('/actions/dance', {}), { status: 404, said: { error: /no action dance/ } })
  t.match(await post('/actions/pull-cable', {}), { status: 400, said: { error: /it takes host, link/ } })
  t.match(await post('/actions/pull-cable', []), { status: 400, said: { error: /no JSON object/ } })
  t.match(await ask('/actions/pull-cable', { method: 'POST', body: '{' }), { status: 400, said: { error: /no JSON/ } })
  t.match(await ask('/actions/pull-cable', { method: 'POST', body: 'x'.repeat(70_000) }), {
    status: 400,
    said: { error: /too long/ }
  })
  t.match(await post('/actions/pull-cable', { host: 'nobody' }), { status: 404, said: { error: /there is no host nobody/ } })
  t.match(await post('/actions/power-on', { host }), { status: 409, said: { error: /has power/ } })
  t.match(await post('/actions/pull-cable', { host }), { status: 200, said: { did: `the cable of eth0 of ${host} is out` } })
  matchWhole(t, (await ask('/fleet')).said, { undo: [{ name: 'plug-cable', args: { host, link: 'eth0' } }] })
  t.match((await ask('/history')).said, { history: Array })
})

t.end() // tap itself would wait for a timer, and those stand still
