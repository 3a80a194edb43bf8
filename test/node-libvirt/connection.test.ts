// What a healthy server never does, by a scripted one
import { once } from 'node:events'
import t, { type Test } from 'tap'
import { connect, isConnectionLost, LibvirtError, procedures } from 'node-libvirt'
import { fakeServer, type Peer, type Received, type Script } from './fake-server.ts'
import { until } from './until.ts'

const { connectGetHostname, connectGetUri, connectGetVersion } = procedures
const HOSTNAME = connectGetHostname.number
const URI = connectGetUri.number

/** A client of a scripted server, and the server's end of it. */
async function opened(t: Test, script: Script = {}, options: Parameters<typeof connect>[1] = { keepalive: false }) {
  const { uri, peers } = await fakeServer(t, script)
  const virt = await connect(uri, options)
  t.teardown(() => virt.close())
  return { virt, peer: peers[0] as Peer }
}

t.test('replies in another order than the calls', async t => {
  const held: Received[] = []
  const answer = (call: Received, peer: Peer) => {
    held.push(call)
    if (held.length === 3) for (const late of held.reverse()) peer.reply(late, w => w.string(`#${late.serial}`))
  }
  const { virt } = await opened(t, { [HOSTNAME]: answer })
  const names = await Promise.all([1, 2, 3].map(() => virt.call(connectGetHostname)))
  t.strictSame(names, names.toSorted(), 'each got its own')
  t.equal(new Set(names).size, 3)
})

t.test('a late reply is dropped and counted; the connection goes on', async t => {
  let late: (() => void) | undefined
  const script: Script = {
    [HOSTNAME]: (call, peer) => (late = () => peer.reply(call, w => w.string('late'))),
    [URI]: (call, peer) => peer.reply(call, w => w.string('in time'))
  }
  const { virt } = await opened(t, script)
  await t.rejects(virt.call(connectGetHostname, undefined, { timeoutMs: 20 }), { code: 'timeout', retryable: true })
  late?.()
  t.equal(await virt.call(connectGetUri), 'in time')
  t.strictSame(virt.counters, { lateReplies: 1, strayFrames: 0 })
})

t.test('an aborted call is given up, before or after it was sent', async t => {
  const { virt, peer } = await opened(t, { [HOSTNAME]: () => {}, [URI]: (call, peer) => peer.reply(call, w => w.string('')) })
  const sent = peer.received.length
  await t.rejects(virt.call(connectGetHostname, undefined, { signal: AbortSignal.abort() }), {
    code: 'aborted',
    retryable: false
  })
  const abort = new AbortController()
  const call = virt.call(connectGetHostname, undefined, { signal: abort.signal })
  abort.abort(new Error('enough'))
  await t.rejects(call, { code: 'aborted', cause: { message: 'enough' } })
  await virt.call(connectGetUri)
  t.equal(peer.received.length, sent + 2, 'the first was never sent')
})

const garbage: Array<[name: string, send: (call: Received, peer: Peer) => void]> = [
  ['a frame that is too short', (_, { socket }) => socket.write(Buffer.from('0000001b', 'hex'))],
  ['a frame that is too long', (_, { socket }) => socket.write(Buffer.from('02000005', 'hex'))],
  ['text', (_, { socket }) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ['another program', ({ serial }, peer) => peer.frame({ program: 0x2000_8087, procedure: HOSTNAME, type: 1, serial })],
  ['a reply of another procedure', ({ serial }, peer) => peer.reply({ procedure: 1, serial })],
  [
    'another version',
    (_, { socket }) => socket.write(Buffer.from('0000001c20008086000000020000003b000000010000000000000000', 'hex'))
  ]
]
for (const [name, send] of garbage) {
  t.test(`${name} kills the connection`, async t => {
    const { virt, peer } = await opened(t, { [HOSTNAME]: send, [URI]: () => {} })
    const ended = once(peer.socket, 'close')
    const waiting = virt.call(connectGetUri)
    const lost = { code: 'protocol', retryable: true }
    await Promise.all([t.rejects(virt.call(connectGetHostname), lost), t.rejects(waiting, lost)])
    t.match(await virt.closed, lost)
    await t.rejects(virt.call(connectGetHostname), lost, 'later calls fail at once')
    await ended
  })
}

t.test('frames that belong to nothing are counted', async t => {
  const script: Script = {
    [HOSTNAME]: (call, peer) => {
      peer.reply({ procedure: HOSTNAME, serial: 4_000_000 }, w => w.string('never asked'))
      peer.message(999)
      peer.frame({ program: 0x2000_8086, procedure: 1, type: 3, serial: 0 }) // a stream
      peer.message(318, w => w.int(77).string('a').fixed(Buffer.alloc(16)).int(1).int(0).int(0)) // a callback that is not ours
      peer.reply(call, w => w.string('here'))
    }
  }
  const { virt } = await opened(t, script)
  t.equal(await virt.call(connectGetHostname), 'here')
  t.strictSame(virt.counters, { lateReplies: 0, strayFrames: 4 })
})

t.test('half a frame, then the end', async t => {
  const { virt } = await opened(t, { [HOSTNAME]: (_, { socket }) => socket.end(Buffer.from('000000242000', 'hex')) })
  await t.rejects(virt.call(connectGetHostname), { code: 'closed' })
  t.ok(isConnectionLost(await virt.closed))
})

t.test('a reply that is not what the procedure returns fails that call only', async t => {
  const script: Script = {
    [HOSTNAME]: (call, peer) => peer.reply(call, w => w.uint(100)), // a string that is not there
    [URI]: (call, peer) => peer.reply(call, w => w.string('x').int(0)), // more than a string
    [connectGetVersion.number]: (call, peer) => peer.reply(call, w => w.int(1), 1) // an error that ends too early
  }
  const { virt } = await opened(t, script)
  await t.rejects(virt.call(connectGetHostname), { code: 'decode' })
  await t.rejects(virt.call(connectGetUri), { code: 'decode' })
  await t.rejects(virt.call(connectGetVersion), { code: 'decode' })
  t.strictSame(virt.counters, { lateReplies: 0, strayFrames: 0 })
})

t.test("the server's error, in its own numbers", async t => {
  const { virt } = await opened(t, {
    [HOSTNAME]: (call, peer) => peer.refuse(call, 42, 'no domain'),
    [URI]: (call, peer) => peer.refuse(call, 4711, 'new')
  })
  await t.rejects(virt.call(connectGetHostname), {
    code: 'no-domain',
    retryable: false,
    server: { number: 42, domain: 7, level: 2, message: 'no domain' }
  })
  await t.rejects(virt.call(connectGetUri), { code: 'server', server: { number: 4711 } })
})

t.test('close rejects what still waits, and says so', async t => {
  const { virt } = await opened(t, { [HOSTNAME]: () => {} })
  const waiting = t.rejects(virt.call(connectGetHostname), { code: 'closed' })
  await virt.close()
  await waiting
  t.equal(await virt.closed, undefined)
  await t.rejects(virt.call(connectGetHostname), { code: 'closed' })
})

t.test('an argument that cannot be sent harms nobody else', async t => {
  const { virt } = await opened(t, { [HOSTNAME]: (call, peer) => peer.reply(call, w => w.string('fine')) })
  await t.rejects(virt.call(procedures.domainLookupByUuid, { uuid: 'x' }), { code: 'argument' })
  t.equal(await virt.call(connectGetHostname), 'fine')
})

t.test('keepalive, both ways', async t => {
  t.test('a ping is answered', async t => {
    const { virt, peer } = await opened(t, { [HOSTNAME]: (call, peer) => peer.reply(call, w => w.string('')) })
    peer.keepalive(1)
    await virt.call(connectGetHostname)
    await until(() =>
      peer.received.some(({ program, procedure, type }) => program === 0x6b65_6570 && procedure === 2 && type === 2)
    )
  })

  t.test('a server that freezes is given up after the last unanswered ping', async t => {
    const { virt, peer } = await opened(t, { [HOSTNAME]: () => {} }, { keepalive: { intervalMs: 20, count: 3 } })
    await t.rejects(virt.call(connectGetHostname), { code: 'keepalive', retryable: true })
    t.equal(peer.received.filter(({ program }) => program === 0x6b65_6570).length, 3, 'three pings')
  })

  t.test('a server that answers is kept', async t => {
    const { virt, peer } = await opened(
      t,
      { [HOSTNAME]: (call, peer) => peer.reply(call, w => w.string('kept')) },
      { keepalive: { intervalMs: 10, count: 1 } }
    )
    let pings = 0
    peer.socket.on('data', () => {
      peer.keepalive(2)
      pings++
    })
    await until(() => pings >= 10)
    t.equal(await virt.call(connectGetHostname), 'kept')
  })

  t.test('a server that does not know it is not pinged', async t => {
    const { virt, peer } = await opened(
      t,
      { 60: (call, peer) => peer.reply(call, w => w.int(0)), [HOSTNAME]: () => {} },
      { keepalive: { intervalMs: 5, count: 1 } }
    )
    await t.rejects(virt.call(connectGetHostname, undefined, { timeoutMs: 60 }), { code: 'timeout' })
    t.notOk(peer.received.some(({ program }) => program === 0x6b65_6570))
  })
})

t.test('the driver behind the server lost its link (message 362)', async t => {
  const script: Script = {
    60: (call, peer) => peer.reply(call, w => w.int(1)),
    360: (call, peer) => peer.reply(call),
    [HOSTNAME]: (_, peer) => peer.message(362, w => w.int(1))
  }
  const { virt } = await opened(t, script)
  await t.rejects(virt.call(connectGetHostname), { code: 'closed', message: /end of file/ })
})

t.test('a driver without such a link is no obstacle', async t => {
  const script: Script = { 60: (call, peer) => peer.reply(call, w => w.int(1)), 360: (call, peer) => peer.refuse(call, 3, 'no') }
  await opened(t, script)
})

t.test('connecting', async t => {
  const cases: Array<[name: string, script: Script, options: Parameters<typeof connect>[1], code: string]> = [
    ['a server that never answers', { 66: () => {} }, { connectTimeoutMs: 30 }, 'timeout'],
    ['a server that refuses to open', { 1: (call, peer) => peer.refuse(call, 38, 'no') }, {}, 'server'],
    ['a server that hangs up', { 1: (_, { socket }) => socket.destroy() }, {}, 'closed'],
    ['a caller who has had enough', { 66: () => {} }, { signal: AbortSignal.timeout(20) }, 'aborted'],
    [
      'a close callback that fails',
      { 60: (call, peer) => peer.reply(call, w => w.int(1)), 360: (call, peer) => peer.refuse(call, 1, 'no') },
      {},
      'server'
    ]
  ]
  for (const [name, script, options, code] of cases) {
    const { uri } = await fakeServer(t, script)
    await t.rejects(connect(uri, options), { name: 'LibvirtError', code }, name)
  }
  await t.rejects(connect('test+unix:///default?socket=/nonexistent'), {
    code: 'connect',
    retryable: true,
    cause: { code: 'ENOENT' }
  })
  await t.rejects(connect('qemu+tcp://127.0.0.1:1/system'), { code: 'connect', cause: { code: 'ECONNREFUSED' } })
  t.ok(new LibvirtError('connect', 'x').retryable)
})
