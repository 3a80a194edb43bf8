import t, { type Test } from 'tap'
import { connect, eventKinds, procedures } from 'node-libvirt'
import type { Writer } from '../../shared/node-libvirt/src/xdr/writer.ts'
import { fakeServer, type Peer, type Script } from './fake-server.ts'

const uuid = '00010203-0405-0607-0809-0a0b0c0d0e0f'
const domain = { name: 'g', uuid, id: 3 }
const writeDomain = (w: Writer) =>
  w
    .string('g')
    .fixed(Buffer.from(uuid.replaceAll('-', ''), 'hex'))
    .int(3)

/** A reboot (319) with this callback id. */
const reboot = (peer: Peer, callbackId: number) => peer.message(319, w => writeDomain(w.int(callbackId)))

async function opened(t: Test, script: Script = {}) {
  const { uri, peers } = await fakeServer(t, script)
  const virt = await connect(uri, { keepalive: false })
  t.teardown(() => virt.close())
  return { virt, peer: peers[0] as Peer }
}

t.test('every kind by default; those named otherwise, of one domain if asked', async t => {
  const asked: Array<{ event: number; of: string | null }> = []
  const script: Script = {
    316: ({ serial, procedure, body }, peer) => {
      const event = body.int()
      asked.push({ event, of: body.optional(r => r.string()) })
      peer.reply({ serial, procedure }, w => w.int(event))
    }
  }
  const { virt } = await opened(t, script)
  await virt.subscribe()
  t.strictSame(
    asked,
    eventKinds.map((_, event) => ({ event, of: null })),
    'the kinds are listed in the order of their ids, 0 to 25'
  )
  asked.length = 0
  await virt.subscribe(['reboot', 'watchdog'], { domain })
  t.strictSame(asked, [
    { event: 1, of: 'g' },
    { event: 3, of: 'g' }
  ])
  await t.rejects(virt.subscribe([]), { code: 'argument' }, 'of nothing nothing would come, not even the end')
})

t.test('an event may come before the reply that tells its callback id', async t => {
  const script: Script = {
    316: (call, peer) => {
      reboot(peer, 9)
      peer.reply(call, w => w.int(9))
      reboot(peer, 9)
    }
  }
  const { virt } = await opened(t, script)
  const events = await virt.subscribe(['reboot'])
  t.strictSame(await events.next(), { done: false, value: { kind: 'reboot', domain } })
  t.strictSame(await events.next(), { done: false, value: { kind: 'reboot', domain } })
})

t.test('a message that cannot be read is told, not hidden', async t => {
  const { virt, peer } = await opened(t)
  const events = await virt.subscribe(['lifecycle'])
  peer.message(318, w => w.int(0).uint(1000))
  t.match(await events.next(), { value: { kind: 'undecodable', expected: 'lifecycle', error: { code: 'decode' } } })
})

t.test('a slow listener does not hold up the reader', async t => {
  const { virt, peer } = await opened(t, { 59: (call, peer) => peer.reply(call, w => w.string('quick')) })
  const events = await virt.subscribe(['reboot'], { capacity: 10 })
  for (let n = 0; n < 5000; n++) reboot(peer, 1)
  t.equal(await virt.call(procedures.connectGetHostname), 'quick', 'behind 5,000 events that nobody reads')
  for (let n = 0; n < 10; n++) t.match(await events.next(), { value: { kind: 'reboot' } })
  t.strictSame(await events.next(), { done: false, value: { kind: 'overflow', dropped: 4990 } })
})

t.test('one kind refused: nothing is left registered', async t => {
  const deregistered: number[] = []
  const script: Script = {
    316: (call, peer) => {
      const event = call.body.int()
      if (event === 25) peer.refuse(call, 8, 'unknown event')
      else peer.reply(call, w => w.int(100 + event))
    },
    317: (call, peer) => {
      deregistered.push(call.body.int())
      peer.reply(call)
    }
  }
  const { virt } = await opened(t, script)
  await t.rejects(virt.subscribe(['reboot', 'watchdog', 'memory-failure']), { code: 'server', server: { number: 8 } })
  t.strictSame(deregistered, [101, 103])
})

t.test('leaving the loop deregisters, whatever the server says to it', async t => {
  const deregistered: number[] = []
  const script: Script = {
    317: (call, peer) => {
      deregistered.push(call.body.int())
      peer.refuse(call, 8, 'no such callback')
    }
  }
  const { virt, peer } = await opened(t, script)
  const events = await virt.subscribe(['reboot'])
  reboot(peer, 1)
  for await (const event of events) if (event.kind === 'reboot') break
  t.strictSame(deregistered, [1])
})

t.test('the connection is lost: what is queued, then the error; closed by us: the end', async t => {
  const { virt, peer } = await opened(t, { 59: (call, peer) => peer.reply(call, w => w.string('')) })
  const events = await virt.subscribe(['reboot'])
  reboot(peer, 1)
  await virt.call(procedures.connectGetHostname)
  peer.socket.destroy()
  t.match(await virt.closed, { code: 'closed' })
  t.match(await events.next(), { value: { kind: 'reboot' } })
  await t.rejects(events.next(), { code: 'closed', retryable: true })

  const { virt: other } = await opened(t)
  const quiet = await other.subscribe(['reboot'])
  const waiting = quiet.next()
  await other.close()
  t.strictSame(await waiting, { done: true, value: undefined })
})
