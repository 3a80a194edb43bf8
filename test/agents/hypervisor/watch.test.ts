// What a connection to libvirt goes through, by a scripted libvirt: a long absence, a host that cannot be read, a domain that cannot, and a move
// that ends unseen
import type { Domain } from 'node-libvirt'
import { refusal } from 'node-libvirt/server'
import t from 'tap'
import { patience } from '../../../agents/hypervisor/libvirt/patience.ts'
import { LibvirtError } from 'node-libvirt'
import { matchWhole } from '../../assert/match-whole.ts'
import { capabilities, factsOf, hypervisorOf, simLibvirt } from './sim-libvirt.ts'

const domain: Domain = { name: 'g', uuid: '00010203-0405-0607-0809-0a0b0c0d0e0f', id: 3 }
const anHour = 3_600_000

t.test('NA-7: a daemon that was away for long is not kept waiting: its new socket ends the back-off', async t => {
  const { uri, start, stop } = await simLibvirt(
    t,
    hypervisorOf(() => [domain])
  )
  const { next } = factsOf(t, uri, { backoff: { minMs: anHour, maxMs: anHour, jitter: 0 } })
  await next('unreachable')
  await start()
  matchWhole(t, await next('snapshot'), { epoch: 1, domains: [{ id: domain.uuid }] })
  stop()
  await next('lost')
})

t.test('NA-7: without a socket to be seen, or after a try that hung, the next one comes soon', async t => {
  const signal = new AbortController().signal
  const remote = patience({ transport: 'tcp', host: '127.0.0.1', port: 16_509 })
  await remote.wait(anHour, signal)
  const frozen = patience({ transport: 'unix', path: '/nonexistent/libvirt-sock' })
  frozen.begin() // no such folder: the time alone counts
  frozen.failed(new LibvirtError('timeout', 'no answer'))
  await frozen.wait(anHour, signal)
  const stop = new AbortController()
  frozen.failed(new LibvirtError('connect', 'nobody'))
  const stopped = frozen.wait(anHour, stop.signal)
  stop.abort()
  await stopped
  t.pass('none of them took an hour')
})

t.test('NA-11, NA-12: a host that could not be read is read again, on the same connection', async t => {
  let readable = false
  const { uri, start } = await simLibvirt(t, {
    ...hypervisorOf(() => []),
    capabilities: () => {
      if (!readable) throw refusal(1, 'QEMU does not answer')
      return capabilities
    }
  })
  await start()
  const { next } = factsOf(t, uri, { fullCheckMs: 20 })
  const { link } = await next('connected')
  matchWhole(t, link, { failed: true, unread: [/QEMU does not answer/], libvirtVersion: '9.0.0' })
  readable = true
  let again = await next('link')
  while (again.link.failed) again = await next('link')
  matchWhole(t, again, { epoch: 1, link: { unread: [], host: { cells: [{ id: 0 }] } } })
})

t.test('NA-9: an outgoing move that ended unseen, elsewhere, is forgotten: its guest comes back without a failure', async t => {
  let domains = [domain]
  let moving = true
  const params = [{ field: 'operation', type: 'int' as const, value: 5 }] // migration-out
  const { uri, start, stop, tell } = await simLibvirt(t, {
    ...hypervisorOf(() => domains),
    jobStats: () => (moving ? { type: 'unbounded', params } : { type: 'none', params: [] })
  })
  await start()
  const { next, passed } = factsOf(t, uri)
  await next('snapshot')
  tell({ kind: 'migration-iteration', domain, iteration: 1 })
  await next('moving')
  for (const [here, busy] of [
    [[], false],
    [[domain], false]
  ] as const) {
    stop()
    ;[domains, moving] = [[...here], busy]
    await next('lost')
    await start()
    await next('snapshot')
  }
  tell({ kind: 'reboot', domain })
  await next('event')
  t.strictSame(
    passed.filter(({ kind }) => kind === 'moved'),
    []
  )
})

t.test('a libvirt without some events is told so and tells the rest; without any, listings tell what happened', async t => {
  const older = await simLibvirt(
    t,
    hypervisorOf(() => [domain]),
    { kinds: ['lifecycle', 'reboot', 'watchdog'] }
  )
  await older.start()
  const some = factsOf(t, older.uri)
  matchWhole(t, (await some.next('connected')).link, { failed: false, unread: [/does not tell: io-error, .*memory-failure/] })
  await some.next('snapshot')
  older.tell({ kind: 'watchdog', domain, action: 'reset' })
  t.match(await some.next('event'), { event: { kind: 'watchdog', action: 'reset' } })

  let domains = [domain]
  const mute = await simLibvirt(
    t,
    hypervisorOf(() => domains),
    { kinds: [] }
  )
  await mute.start()
  const none = factsOf(t, mute.uri, { fullCheckMs: 20 })
  matchWhole(t, (await none.next('connected')).link, { failed: false, unread: [/does not tell: lifecycle, /] })
  matchWhole(t, await none.next('snapshot'), { domains: [{ id: domain.uuid }] })
  domains = []
  let listed = await none.next('snapshot')
  while (listed.domains.length > 0) listed = await none.next('snapshot')
  mute.stop()
  await none.next('lost')
})

t.test(
  'ha.md §2, control info: a domain that libvirt lost its way into is asked about until it has one, over a new connection too',
  async t => {
    let state: 'ok' | 'error' | undefined
    const asked: string[] = []
    const libvirt = await simLibvirt(t, {
      ...hypervisorOf(() => [domain]),
      controlInfo: () => {
        if (state === undefined) throw refusal(3, 'not supported by this driver')
        asked.push(state)
        return { state, details: state === 'error' ? 'monitor' : 'none', sinceMs: 0n }
      }
    })
    await libvirt.start()
    const { next } = factsOf(t, libvirt.uri, { backoff: { minMs: 1, maxMs: 1, jitter: 0 } })
    await next('snapshot')
    t.strictSame(asked, [], 'nobody asks without a reason')
    libvirt.tell({ kind: 'control-error', domain })
    const untold = await next('domain')
    t.match(untold.read, { id: domain.uuid, state: 'running' })
    t.notOk(untold.read?.control, 'a libvirt that cannot tell says nothing')
    state = 'error'
    let read = (await next('domain')).read
    while (!read?.control) read = (await next('domain')).read
    t.strictSame(read.control, { state: 'error', details: 'monitor' }, 'asked again by and by')
    libvirt.stop()
    await next('lost')
    state = 'ok'
    await libvirt.start()
    await next('snapshot')
    t.match((await next('domain')).read, { control: { state: 'ok' } })
    const times = asked.length
    libvirt.tell({ kind: 'reboot', domain })
    t.notOk((await next('domain')).read?.control, 'which ends it')
    t.equal(asked.length, times)
  }
)
