import t from 'tap'
import { connect, type Credentials } from 'node-libvirt'
import { fakeServer, type Script } from './fake-server.ts'

const credentials: Credentials = { username: 'user', password: 'pencil' }

/** AUTH_LIST */
const wants = (...types: number[]): Script => ({ 66: (call, peer) => peer.reply(call, w => w.list(types, type => w.int(type))) })
/** AUTH_SASL_INIT */
const offers = (mechanisms: string): Script => ({ 67: (call, peer) => peer.reply(call, w => w.string(mechanisms)) })
/** AUTH_SASL_START (68) and STEP (69): one turn for each answer; each character takes a word. */
const turn =
  (complete: boolean, data: string | null): Script[number] =>
  (call, peer) =>
    peer.reply(call, w =>
      w
        .bool(complete)
        .bool(data === null)
        .list([...Buffer.from(data ?? '', 'latin1')], byte => w.int(byte))
    )

const admitted: Array<[name: string, script: Script, credentials: Credentials | undefined]> = [
  ['none, even if others are offered', wants(2, 1, 0), undefined],
  ['polkit', { ...wants(2), 70: (call, peer) => peer.reply(call, w => w.int(1)) }, undefined],
  [
    'polkit, when there are no credentials for SASL',
    { ...wants(1, 2), 70: (call, peer) => peer.reply(call, w => w.int(1)) },
    undefined
  ],
  ['SASL PLAIN', { ...wants(1), ...offers('GSSAPI, PLAIN'), 68: turn(true, null) }, credentials]
]
for (const [name, script, credentials] of admitted) {
  t.test(`admitted: ${name}`, async t => {
    const { uri } = await fakeServer(t, script)
    const virt = await connect(uri, credentials ? { credentials } : {})
    await virt.close()
  })
}

const refused: Array<[name: string, script: Script, credentials: Credentials | undefined, message: RegExp]> = [
  ['polkit says no', { ...wants(2), 70: (call, peer) => peer.reply(call, w => w.int(0)) }, undefined, /polkit/],
  ['a way that nobody knows', wants(7), undefined, /wants type 7/],
  ['nothing at all', wants(), undefined, /nothing we know/],
  ['SASL without credentials', { ...wants(1), ...offers('DIGEST-MD5,GSSAPI') }, undefined, /SASL: DIGEST-MD5, GSSAPI/],
  [
    'SASL with mechanisms that nobody knows',
    { ...wants(1), ...offers('DIGEST-MD5,GSSAPI') },
    credentials,
    /wants SASL DIGEST-MD5 or GSSAPI/
  ],
  ['a challenge to PLAIN', { ...wants(1), ...offers('PLAIN'), 68: turn(false, 'what?') }, credentials, /no challenge/],
  [
    'SCRAM that ends without proof',
    { ...wants(1), ...offers('PLAIN,SCRAM-SHA-256'), 68: turn(true, null) },
    credentials,
    /without proving/
  ],
  [
    'SCRAM with a strange nonce',
    { ...wants(1), ...offers('SCRAM-SHA-256'), 68: turn(false, 'r=x,s=AAAA,i=1') },
    credentials,
    /nonce/
  ],
  [
    'a wrong password',
    { ...wants(1), ...offers('PLAIN'), 68: (call, peer) => peer.refuse(call, 45, 'authentication failed') },
    credentials,
    /failed/
  ]
]
for (const [name, script, credentials, message] of refused) {
  t.test(`refused: ${name}`, async t => {
    const { uri, peers } = await fakeServer(t, script)
    await t.rejects(connect(uri, credentials ? { credentials } : {}), {
      name: 'LibvirtError',
      code: 'auth',
      retryable: false,
      message
    })
    t.notOk(
      peers[0]?.received.some(({ procedure }) => procedure === 1),
      'nothing was opened'
    )
  })
}

t.test('a password is not sent in clear text over tcp, whatever the server offers', async t => {
  const { tcpUri, peers } = await fakeServer(t, { ...wants(1), ...offers('PLAIN'), 68: turn(true, null) })
  await t.rejects(connect(await tcpUri(), { credentials }), { code: 'auth', retryable: false, message: /PLAIN.*use TLS/ })
  t.notOk(
    peers[0]?.received.some(({ procedure }) => procedure === 68),
    'nothing of it was sent'
  )
})

t.test('data that says it is absent', async t => {
  const { uri } = await fakeServer(t, {
    ...wants(1),
    ...offers('PLAIN'),
    68: (call, peer) =>
      peer.reply(call, w =>
        w
          .bool(true)
          .bool(true)
          .list([1], n => w.int(n))
      )
  })
  await t.rejects(connect(uri, { credentials }), { code: 'decode' })
})
