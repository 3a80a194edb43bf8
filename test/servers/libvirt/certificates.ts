// A certificate authority, a server and two clients, by openssl, with the names libvirt gives to files
import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Below `dir`: server/, client/ (both of the first authority), and stranger/ (of another, which nobody trusts). */
export async function makeCertificates(dir: string): Promise<{ server: string; client: string; stranger: string }> {
  const folders = { server: join(dir, 'server'), client: join(dir, 'client'), stranger: join(dir, 'stranger') }
  for (const folder of Object.values(folders)) await mkdir(folder, { recursive: true })
  await authority(folders.server)
  await authority(folders.stranger)
  await run('cp', [join(folders.server, 'cacert.pem'), join(folders.server, 'cakey.pem'), folders.client])
  await issue(folders.server, 'server', 'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth')
  await issue(folders.client, 'client', 'extendedKeyUsage=clientAuth')
  await issue(folders.stranger, 'client', 'extendedKeyUsage=clientAuth')
  return folders
}

const newKey = ['-newkey', 'rsa:2048', '-nodes']

async function authority(folder: string): Promise<void> {
  const files = ['-keyout', join(folder, 'cakey.pem'), '-out', join(folder, 'cacert.pem')]
  await run('openssl', [
    'req',
    '-x509',
    ...newKey,
    ...files,
    '-subj',
    '/CN=test authority',
    '-days',
    '2',
    '-addext',
    'keyUsage=keyCertSign'
  ])
}

async function issue(folder: string, role: 'server' | 'client', extensions: string): Promise<void> {
  const file = (name: string) => join(folder, name)
  await run('openssl', ['req', ...newKey, '-keyout', file(`${role}key.pem`), '-out', file('request.pem'), '-subj', `/CN=${role}`])
  // GnuTLS, which libvirt uses, wants both usages
  await writeFile(file('extensions'), `keyUsage=digitalSignature,keyEncipherment\nbasicConstraints=CA:FALSE\n${extensions}\n`)
  const signed = [
    '-CA',
    file('cacert.pem'),
    '-CAkey',
    file('cakey.pem'),
    '-CAcreateserial',
    '-days',
    '2',
    '-extfile',
    file('extensions')
  ]
  await run('openssl', ['x509', '-req', '-in', file('request.pem'), '-out', file(`${role}cert.pem`), ...signed])
}
