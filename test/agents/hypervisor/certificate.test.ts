// NA-27: the key is that of the certificate, the whole set or none, what is served is looked at, and an end that comes near is told
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
import { certificates } from '../../../agents/hypervisor/work/certificates.ts'
import type { Kube } from '../../../shared/kube/index.ts'
import { makeAuthority, makeCertificate } from '../../servers/certificates.ts'

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
  t.same(left, [], 'nothing half done is left')
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
    kube,
    secret: { name: 's', namespace: 'n' },
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
  t.same(started, ['virt-admin-server-update-tls.service'], 'libvirt was asked once: the files did not change')
  t.equal((await stat(join(dir, 'pki/libvirt/private/serverkey.pem'))).mode & 0o777, 0o600)
  now = inDays(25)
  await look()
  t.match(known.certificate, { status: 'False', reason: 'Expiring' })
  await new Promise(resolve => server.close(resolve))
  now = new Date()
  await look()
  t.match(known.certificate, { status: 'False', reason: 'FailedToUpdateTLSCertificate' }, 'nobody serves')
})
