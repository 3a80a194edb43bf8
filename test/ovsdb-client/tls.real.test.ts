import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { comment } from 'ovsdb-client'
import { makeAuthority, makeCertificate } from '../servers/certificates.ts'
import { startOvsdb } from '../servers/ovs.ts'
import { client, ovsNeeded } from './real.ts'

await ovsNeeded()

async function credentials(names: Parameters<typeof makeCertificate>[3]) {
  const folder = await mkdtemp(join(tmpdir(), 'd-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const authority = await makeAuthority(folder)
  for (const name of ['server', 'client']) await makeCertificate(authority, folder, name, names)
  const [ca, cert, key] = await Promise.all(['ca.crt', 'client.crt', 'client.key'].map(file => readFile(join(folder, file))))
  return { folder, tls: { ca, cert, key } as { ca: Buffer; cert: Buffer; key: Buffer } }
}

const right = await credentials([{ type: 'ip', value: '127.0.0.1' }])
const wrong = await credentials([{ type: 'ip', value: '127.0.0.1' }])
const elsewhere = await credentials([{ type: 'dns', value: 'db.example' }])
const server = await startOvsdb(t, { tlsFolder: right.folder })
const impatient = { timeoutMs: 500 }

t.test('ssl: with the right authority', async t => {
  const db = client(t, [server.ssl], { tls: right.tls })
  t.strictSame(await db.transact([comment('hello')]), [{}])
  t.match(db.status, { state: 'connected', remote: server.ssl })
})

t.test('a server signed by another authority is refused', async t => {
  const db = client(t, [server.ssl], { tls: { ...right.tls, ca: wrong.tls.ca } })
  await t.rejects(db.transact([comment('hello')], impatient), {
    code: 'timeout',
    cause: { code: 'tls-failed', retryable: false }
  })
})

t.test('the server refuses a client signed by another authority', async t => {
  const db = client(t, [server.ssl], { tls: { ...wrong.tls, ca: right.tls.ca } })
  await t.rejects(db.transact([comment('hello')], impatient), { code: 'timeout', cause: { code: /tls-failed|connection-lost/ } })
})

t.test('a certificate for another name is refused, unless the caller knows better', async t => {
  const named = await startOvsdb(t, { tlsFolder: elsewhere.folder })
  const strict = client(t, [named.ssl], { tls: elsewhere.tls })
  await t.rejects(strict.transact([comment('hello')], impatient), {
    cause: { code: 'tls-failed', cause: { code: 'ERR_TLS_CERT_ALTNAME_INVALID' } }
  })
  const lenient = client(t, [named.ssl], { tls: { ...elsewhere.tls, checkServerIdentity: () => undefined } })
  t.strictSame(await lenient.transact([comment('hello')]), [{}])
})

t.test('a remote that does not speak TLS', async t => {
  const plain = await startOvsdb(t, { tcp: true })
  const db = client(t, [plain.tcp.replace('tcp:', 'ssl:')], { tls: right.tls })
  await t.rejects(db.transact([comment('hello')], impatient), { cause: { code: 'tls-failed' } })
  t.strictSame(await client(t, [plain.tcp]).transact([comment('over tcp')]), [{}])
})

t.test('nobody there, then somebody: the list of remotes is tried in turn', async t => {
  const db = client(t, ['tcp:127.0.0.1:1', 'unix:/nonexistent', server.ssl], { tls: right.tls })
  t.strictSame(await db.transact([comment('hello')]), [{}])
})
