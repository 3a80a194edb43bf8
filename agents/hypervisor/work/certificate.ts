// Installs the certificate that libvirt and QEMU serve (NA-26, NA-27): the whole set or nothing
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

export interface TlsSecret {
  ca: string
  cert: string
  key: string
}

const files: ReadonlyArray<[path: string, what: keyof TlsSecret]> = [
  ['CA/cacert.pem', 'ca'],
  ['qemu/ca-cert.pem', 'ca'],
  ['ch/ca-cert.pem', 'ca'],
  ['libvirt/servercert.pem', 'cert'],
  ['qemu/server-cert.pem', 'cert'],
  ['ch/server-cert.pem', 'cert'],
  ['libvirt/private/serverkey.pem', 'key'],
  ['qemu/server-key.pem', 'key'],
  ['ch/server-key.pem', 'key']
]
const links: ReadonlyArray<[path: string, to: string]> = [
  ['libvirt/clientcert.pem', 'servercert.pem'],
  ['libvirt/private/clientkey.pem', 'serverkey.pem'],
  ['qemu/client-cert.pem', 'server-cert.pem'],
  ['qemu/client-key.pem', 'server-key.pem'],
  ['ch/client-cert.pem', 'server-cert.pem'],
  ['ch/client-key.pem', 'server-key.pem']
]

const certificatesIn = (pem: string): X509Certificate[] =>
  (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? ['']).map(one => new X509Certificate(one))

/** By the signature: an authority that was made anew has the same name. */
const issued = (by: X509Certificate, leaf: X509Certificate): boolean => leaf.checkIssued(by) && leaf.verify(by.publicKey)

/** Each certificate is issued by the one after it, the last by one of the authorities, or is one itself. */
const leadsTo = (chain: X509Certificate[], authorities: X509Certificate[]): boolean =>
  chain.every((leaf, at) => {
    const next = chain[at + 1]
    if (next !== undefined) return issued(next, leaf)
    return authorities.some(by => by.fingerprint256 === leaf.fingerprint256 || issued(by, leaf))
  })

/** Why the set is of no use; undefined when it is. */
export function problemOf({ ca, cert, key }: TlsSecret, now: Date): string | undefined {
  try {
    const leaf = new X509Certificate(cert)
    if (!leaf.checkPrivateKey(createPrivateKey(key))) return 'the key is not that of the certificate'
    if (!leadsTo(certificatesIn(cert), certificatesIn(ca))) return 'the certificate was not issued by this CA'
    if (leaf.validToDate < now) return `the certificate expired at ${leaf.validTo}`
    return undefined
  } catch (err) {
    return `not a certificate and its key: ${(err as Error).message}`
  }
}

export const expiresWithin = ({ cert }: TlsSecret, ms: number, now: Date): boolean =>
  new X509Certificate(cert).validToDate.getTime() - now.getTime() < ms

/** What is there now; undefined when a part of it is missing. */
export async function installedIn(folder: string): Promise<TlsSecret | undefined> {
  const [ca, cert, key] = await Promise.all(
    ['CA/cacert.pem', 'libvirt/servercert.pem', 'libvirt/private/serverkey.pem'].map(path =>
      readFile(join(folder, path), 'utf8').catch(() => undefined)
    )
  )
  return ca === undefined || cert === undefined || key === undefined ? undefined : { ca, cert, key }
}

export async function isInstalled(folder: string, secret: TlsSecret): Promise<boolean> {
  const same = await Promise.all(
    files.map(async ([path, what]) => (await readFile(join(folder, path), 'utf8').catch(() => undefined)) === secret[what])
  )
  return same.every(Boolean)
}

/** Everything is written beside its place first, then renamed into it: a full disk leaves the old set as it was. */
export async function install(folder: string, secret: TlsSecret): Promise<void> {
  const staged = files.map(([path, what]) => ({
    path: join(folder, path),
    text: secret[what],
    mode: what === 'key' ? 0o600 : 0o644
  }))
  try {
    for (const { path, text, mode } of staged) {
      await mkdir(dirname(path), { recursive: true, mode: path.includes('/private/') ? 0o700 : 0o755 })
      await rm(`${path}.new`, { force: true })
      await writeFile(`${path}.new`, text, { mode })
    }
  } catch (err) {
    for (const { path } of staged) await rm(`${path}.new`, { force: true })
    throw err
  }
  for (const { path } of staged) await rename(`${path}.new`, path)
  for (const [path, to] of links) {
    await rm(join(folder, `${path}.new`), { force: true })
    await symlink(to, join(folder, `${path}.new`))
    await rename(join(folder, `${path}.new`), join(folder, path))
  }
}
