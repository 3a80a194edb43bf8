// A daemon that is killed or frozen, under load
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { connect, isConnectionLost, procedures as p, reconnecting } from 'node-libvirt'
import { startLibvirt } from '../servers/libvirt.ts'
import { create, libvirtNeeded, open } from './real.ts'

await libvirtNeeded()
const { nodes } = await startLibvirt(t, { nodes: [{ name: 'a', restart: true }] })
const [node] = nodes
if (!node) throw new Error('no node')
const guest = await create(await open(t, node.uri), 'g')

t.test('thousands of calls at once, each with its own answer', async t => {
  const virt = await open(t, node.uri)
  const calls = Array.from({ length: 2000 }, (_, n) =>
    n % 2 ? virt.call(p.connectGetHostname) : virt.call(p.domainLookupByName, { name: 'g' })
  )
  const answers = await Promise.all(calls)
  t.ok(answers.every((answer, n) => (n % 2 ? answer === 'a' : typeof answer === 'object' && answer.uuid === guest.uuid)))
  t.strictSame(virt.counters, { lateReplies: 0, strayFrames: 0 })
})

t.test(
  'kill -9 under load, three times: every call ends, each session begins anew, the guest is never gone (NA-7, NA-9)',
  async t => {
    let sessions = 0
    let answered = 0
    for await (const virt of reconnecting(() => connect(node.uri), { backoff: { minMs: 20, maxMs: 200, jitter: 0 } })) {
      const events = await virt.subscribe(['lifecycle'])
      const domains = await virt.domains()
      t.strictSame(
        domains.map(({ uuid }) => uuid),
        [guest.uuid],
        `session ${++sessions} finds the guest`
      )
      if (sessions > 3) break

      const load = Array.from({ length: 20 }, async () => {
        while (true) {
          await virt.call(p.connectGetHostname)
          if (++answered % 500 === 0) node.kill('KILL')
        }
      })
      const ends = await Promise.allSettled(load)
      t.ok(
        ends.every(end => end.status === 'rejected' && isConnectionLost(end.reason)),
        'every worker was told'
      )
      await t.rejects(events.next(), { code: 'closed', retryable: true }, 'and the listener')
      t.match(await virt.closed, { code: 'closed' })
    }
    t.equal(sessions, 4)
  }
)

t.test('a frozen daemon (SIGSTOP) is noticed by keepalive, and by a time-out', async t => {
  const virt = await open(t, node.uri, { keepalive: { intervalMs: 100, count: 3 } })
  const events = await virt.subscribe(['lifecycle'])
  node.kill('STOP')
  t.teardown(() => node.kill('CONT'))
  await t.rejects(virt.call(p.connectGetHostname, undefined, { timeoutMs: 20 }), { code: 'timeout' })
  await Promise.all([
    t.rejects(virt.call(p.connectGetHostname), { code: 'keepalive', retryable: true }),
    t.rejects(events.next(), { code: 'keepalive' })
  ])
  await t.rejects(
    connect(node.uri, { connectTimeoutMs: 100 }),
    { code: 'timeout', retryable: true },
    'accepts, but never answers'
  )
  node.kill('CONT')
  const again = await open(t, node.uri)
  t.equal((await again.domains()).length, 1)
})

t.test("the server's own pings are answered: it does not cut us off", async t => {
  const [quick] = (await startLibvirt(t, { nodes: [{ name: 'q', conf: 'keepalive_interval = 1\nkeepalive_count = 1' }] })).nodes
  if (!quick) throw new Error('no node')
  const virt = await open(t, quick.uri, { keepalive: false })
  const outcome = await Promise.race([virt.closed, sleep(4000, 'still open')])
  t.equal(outcome, 'still open', 'after four times the silence that the server allows')
  t.equal(await virt.call(p.connectGetHostname), 'q')
})
