// NA-27: the key is that of the certificate, the whole set or none, what is served is looked at, and an end that comes near is told; NA-28: a
// certificate whose key never leaves the node
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import pino from 'pino'
import t from 'tap'
import type { Known } from '../../../agents/hypervisor/known.ts'
import { install, isInstalled, problemOf, type TlsSecret } from '../../../agents/hypervisor/work/certificate.ts'
import { certificates, fromSecret } from '../../../agents/hypervisor/work/certificates.ts'
import { fromRequest } from '../../../agents/hypervisor/work/csr.ts'
import type { CertificateSigningRequest, Kube } from '../../../shared/kube/index.ts'
import { answer, askedFor, makeAuthority, makeCertificate } from '../../servers/certificates.ts'

const dir = await mkdtemp(join(tmpdir(), 'c-'))
t.teardown(() => rm(dir, { recursive: true, force: true }))
async function issue(authority: string, name: string): Promise<TlsSecret> {
  const folder = join(dir, authority)
  await mkdir(folder, { recursive: true })
  await makeCertificate(await makeAuthority(folder), folder, name, [{ type: 'ip', value: '127.0.0.1' }])
  const [ca = '', cert = '', key = ''] = await Promise.all(
    ['ca.crt', `${name}.crt`, `${name}.key`].map(file => readFile(join(folder, file), 'utf8'))
  )
  return { ca, cert, key }
}
const [ours, other] = [await issue('one', 'ours'), await issue('two', 'other')]
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000)

t.test('what is of no use is said, and why', async t => {
  const now = new Date()
  t.equal(problemOf(ours, now), undefined)
  t.match(problemOf({ ...ours, key: other.key }, now), /key is not that of the certificate/)
  t.match(problemOf({ ...ours, ca: other.ca }, now), /not issued by this CA/)
  t.match(problemOf(ours, inDays(31)), /expired/)
  for (const broken of [
    { ...ours, cert: '' },
    { ...ours, key: 'no key' },
    { ...ours, ca: '' }
  ])
    t.match(problemOf(broken, now), /not a certificate and its key/)
})

t.test('a disk that is full leaves the old set as it was', async t => {
  const folder = join(dir, 'full')
  await mkdir(folder)
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=96k', 'tmpfs', folder])
  t.teardown(() => void execFileSync('umount', ['-l', folder]))
  await install(folder, ours)
  for (let size = 64 * 1024; size >= 1024; size /= 2)
    await writeFile(join(folder, `ballast-${size}`), Buffer.alloc(size)).catch(() => {}) // as much as fits
  await t.rejects(install(folder, other), { code: 'ENOSPC' })
  t.ok(await isInstalled(folder, ours))
  const left = (await readdir(folder, { recursive: true })).filter(file => file.endsWith('.new'))
  t.strictSame(left, [], 'nothing half done is left')
})

t.test('what libvirt serves, and how long it is good for', async t => {
  let serving = other
  const server = createServer({ SNICallback: () => {} }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const serve = (secret: TlsSecret) => {
    serving = secret
    server.setSecureContext({ cert: serving.cert, key: serving.key })
  }
  serve(other)
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const kube = {
    find: async () => ({ data: { 'ca.crt': base64(ours.ca), 'tls.crt': base64(ours.cert), 'tls.key': base64(ours.key) } })
  } as unknown as Pick<Kube, 'find'>
  const known = {} as Known
  let now = new Date()
  const started: string[] = []
  const look = certificates({
    known,
    before: () => undefined,
    source: fromSecret(kube, { name: 's', namespace: 'n' }),
    folder: join(dir, 'pki'),
    served: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    systemd: () => ({ units: async () => [], start: async unit => (started.push(unit), 'done') }),
    changed: () => {},
    clock: () => now,
    log: pino({ level: 'silent' }),
    signal: new AbortController().signal
  })
  await look()
  t.match(known.certificate, { status: 'False', reason: 'FailedToUpdateTLSCertificate', message: /serves another certificate/ })
  serve(ours)
  await look()
  t.match(known.certificate, { status: 'True', reason: 'Ready' })
  t.strictSame(started, ['virt-admin-server-update-tls.service'], 'libvirt was asked once: the files did not change')
  t.equal((await stat(join(dir, 'pki/libvirt/private/serverkey.pem'))).mode & 0o777, 0o600)
  now = inDays(25)
  await look()
  t.match(known.certificate, { status: 'False', reason: 'Expiring' })
  await new Promise(resolve => server.close(resolve))
  now = new Date()
  await look()
  t.match(known.certificate, { status: 'False', reason: 'FailedToUpdateTLSCertificate' }, 'nobody serves')
})

t.test('NA-26: an agent that ended between the files and libvirt’s reload makes up for it', async t => {
  const folder = join(dir, 'unfinished')
  await install(folder, ours)
  for (const [reason, expected] of [
    ['Installing', 1],
    ['FailedToStartUpdateTLSService', 1],
    ['Ready', 0],
    [undefined, 0]
  ] as const) {
    const started: string[] = []
    const known = {} as Known
    const look = certificates({
      known,
      before: () => (reason === undefined ? undefined : { reason }),
      source: async () => ours,
      folder,
      systemd: () => ({ units: async () => [], start: async unit => (started.push(unit), 'done') }),
      changed: () => {},
      clock: () => new Date(),
      log: pino({ level: 'silent' }),
      signal: new AbortController().signal
    })
    await look()
    await look()
    t.equal(started.length, expected, `before: ${reason}`)
    t.match(known.certificate, { status: 'True', reason: 'Ready' })
  }
})

t.test('NA-28: a certificate by request, its key made here', async t => {
  const folder = join(dir, 'csr')
  await mkdir(folder)
  const authority = await makeAuthority(folder)
  const requests = new Map<string, CertificateSigningRequest>()
  const kube = {
    find: async (_: unknown, name: string) => requests.get(name),
    create: async (_: unknown, object: CertificateSigningRequest) => {
      requests.set(object.metadata?.name ?? '', object)
      return object
    }
  } as unknown as Pick<Kube, 'find' | 'create'>
  let addresses: string[] = []
  let now = new Date()
  const [keyFile, pki] = [join(folder, 'state/libvirt.key'), join(folder, 'pki')]
  const open = () =>
    fromRequest({
      kube,
      node: 'node-1',
      addresses: () => addresses,
      signer: 'a.b/c',
      caFile: join(folder, 'ca.crt'),
      keyFile,
      folder: pki,
      clock: () => now
    })
  let next = open()
  const newest = () => [...requests.values()].at(-1) as CertificateSigningRequest
  const sign = async () => {
    const certificate = await answer(authority, newest().spec.request)
    newest().status = { certificate: Buffer.from(certificate).toString('base64') }
  }
  const take = async () => {
    const found = await next()
    if (found === undefined || !('key' in found)) throw new Error(`no certificate: ${JSON.stringify(found)}`)
    t.equal(problemOf(found, now), undefined)
    await install(pki, found)
    return found
  }

  t.match(await next(), { waiting: /addresses/ }, 'what it should be good for is not known yet')
  t.equal(requests.size, 0)
  addresses = ['10.1.2.3', 'fd00::1:5', '::ffff:10.9.8.7', '::1']
  t.match(await next(), { waiting: /^libvirt-node-1-[0-9a-f]{10} waits for approval$/ })
  const { subject, names } = await askedFor(newest().spec.request)
  t.equal(subject, 'O=nova, CN=node-1')
  t.strictSame(names, ['node-1', '10.1.2.3', 'fd00::1:5', '::ffff:a09:807', '::1'])
  t.match(newest().spec, { signerName: 'a.b/c', expirationSeconds: 47 * 86_400 })
  t.equal((await stat(keyFile)).mode & 0o777, 0o600)
  t.notMatch(JSON.stringify(newest()), /PRIVATE|UFJJVkFURS/, 'nothing of the key leaves, in base64 either')

  next = open() // the agent is started again
  await next()
  t.equal(requests.size, 1, 'it waits for the same request')
  newest().status = { conditions: [{ type: 'Approved', status: 'True' }] }
  t.match(await next(), { waiting: /its signer a\.b\/c/ })
  newest().status = { conditions: [{ type: 'Denied', status: 'True', message: 'not here' }] }
  t.match(await next(), { failed: /refused: not here/ })
  requests.clear() // Kubernetes forgets them after an hour
  await next()
  await sign()
  const first = await take()
  await next()
  t.equal(requests.size, 1, 'what is installed and good is not asked for again')

  now = inDays(8) // of 30: past 10 of 47
  t.strictSame(await next(), first, 'the old one serves until the new one comes')
  t.equal(requests.size, 2, 'asked for long before its end, with a new key')
  await sign()
  const second = await take()
  t.not(second.key, first.key)

  addresses = [...addresses, '10.1.2.4']
  await next()
  t.equal(requests.size, 3, 'a node that got another address asks anew')
  await rm(join(pki, 'CA/cacert.pem'))
  t.match(await next(), { waiting: /approval/ }, 'what is installed in part is not taken for good')
  await sign()
  t.not((await take()).key, second.key)
})
