// tcp, TLS and SASL on the real libvirtd. Here the node shares the test's network, on ports of 127.0.0.1 that the kernel chose.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { connect, type ConnectOptions, procedures as p } from 'node-libvirt'
import { startLibvirt } from '../servers/libvirt.ts'
import { makeCertificates } from '../servers/libvirt/certificates.ts'
import { libvirtNeeded, open } from './real.ts'

await libvirtNeeded()
const dir = await mkdtemp(join(tmpdir(), 'pki-'))
t.teardown(() => rm(dir, { recursive: true }))
const { server, client, stranger } = await makeCertificates(dir)

const users = `mkdir -p /etc/sasl2 && mount -t tmpfs tmpfs /etc/sasl2
  printf "%s\\n" "mech_list: SCRAM-SHA-256 PLAIN" "sasldb_path: /etc/sasl2/users" "pwcheck_method: auxprop" "auxprop_plugin: sasldb" > /etc/sasl2/libvirt.conf
  echo pencil | saslpasswd2 -p -a libvirt -u "$NAME" -f /etc/sasl2/users user`
const tls = `listen_tls = 1
tls_port = "0"
key_file = "${server}/serverkey.pem"
cert_file = "${server}/servercert.pem"
ca_file = "${server}/cacert.pem"`
const { nodes } = await startLibvirt(t, { nodes: [{ name: 'a', conf: tls }], hostNetwork: true })
const [node] = nodes
if (!node) throw new Error('no node')

t.test('tcp', async t => {
  const virt = await open(t, `qemu+tcp://127.0.0.1:${node.port}/system`)
  t.equal(await virt.call(p.connectGetHostname), 'a')
})

t.test('the test driver, in the same daemon', async t => {
  const virt = await open(t, node.testUri)
  t.strictSame(
    (await virt.domains()).map(({ name }) => name),
    ['test']
  )
})

t.test('a read-only connection', async t => {
  const virt = await open(t, node.testUri.replace('libvirt-sock', 'libvirt-sock-ro'), { readOnly: true })
  const [domain] = await virt.domains()
  if (!domain) throw new Error('no domain')
  await t.rejects(virt.call(p.domainDestroy, { domain }), { code: 'denied', server: { number: 29 } })
})

t.test('a driver that this daemon does not have', async t => {
  await t.rejects(connect(`ch+tcp://127.0.0.1:${node.port}/system`), {
    name: 'LibvirtError',
    code: 'server',
    server: { number: 5 }
  })
})

const uri = (parameters: string) => `qemu+tls://127.0.0.1:${node.tlsPort}/system?${parameters}`

t.test('TLS', async t => {
  const pem = async (folder: string, file: string) => await readFile(join(folder, file), 'utf8')
  const tlsFromMemory = {
    ca: await pem(client, 'cacert.pem'),
    cert: await pem(client, 'clientcert.pem'),
    key: await pem(client, 'clientkey.pem')
  }
  const good: Array<[name: string, uri: string, options: ConnectOptions]> = [
    ['certificates of pkipath', uri(`pkipath=${client}`), {}],
    ['certificates from memory', uri(''), { tls: tlsFromMemory }],
    [
      'a server that is not verified, a client that is',
      uri('no_verify=1'),
      { tls: { cert: tlsFromMemory.cert, key: tlsFromMemory.key } }
    ]
  ]
  for (const [name, uri, options] of good) {
    const virt = await open(t, uri, options)
    t.equal(await virt.call(p.connectGetHostname), 'a', name)
  }

  const bad: Array<[name: string, uri: string, message: RegExp, options?: ConnectOptions]> = [
    ["a server of an authority that we don't trust", uri(`pkipath=${stranger}`), /self-signed certificate|unable to|verify/],
    [
      'a client of an authority that the server does not trust',
      uri(`pkipath=${stranger}&no_verify=1`),
      /did not accept our certificate/
    ],
    ['a client without a certificate', uri(''), /did not accept our certificate/, { tls: { ca: tlsFromMemory.ca } }],
    ["a name that is not the server's", uri(`pkipath=${client}`).replace('127.0.0.1', 'localhost'), /altnames/],
    ['no authority at all', uri(`pkipath=${dir}/nothing`), /cacert.pem cannot be read/]
  ]
  for (const [name, uri, message, options] of bad) {
    await t.rejects(connect(uri, options), { name: 'LibvirtError', code: 'tls', retryable: false, message }, name)
  }
  await t.rejects(
    connect(`qemu+tls://127.0.0.1:${node.port}/system?pkipath=${client}`),
    { name: 'LibvirtError', code: /tls|connect/ },
    'no TLS there'
  )
})

t.test('SASL', async t => {
  const { nodes } = await startLibvirt(t, {
    nodes: [
      { name: 's', conf: 'auth_unix_rw = "sasl"', before: users },
      { name: 'p', conf: 'auth_unix_rw = "sasl"', before: users.replace('SCRAM-SHA-256 PLAIN', 'PLAIN') }
    ],
    credentials: { username: 'user', password: 'pencil' }
  })
  for (const { uri } of nodes) {
    const virt = await open(t, uri, { credentials: { username: 'user', password: 'pencil' } })
    t.match(await virt.call(p.connectGetHostname), /s|p/)
    await t.rejects(connect(uri, { credentials: { username: 'user', password: 'pen' } }), {
      code: 'auth',
      retryable: false,
      server: { number: 45 }
    })
    await t.rejects(connect(uri), { code: 'auth', message: /user name and password \(SASL: .*PLAIN/ })
  }
})
