// Installs the node's own certificate, has libvirt take it, and looks whether it is served (NA-26…28)
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:tls'
import type { Logger } from 'pino'
import { Secret, type Kube } from '../../../shared/kube/index.ts'
import type { Systemd } from '../host/systemd.ts'
import type { Known, Verdict } from '../known.ts'
import { expiresWithin, install, isInstalled, problemOf, type TlsSecret } from './certificate.ts'

/** The set that should be installed, or why there is none; undefined while nobody has made one. */
export type TlsSource = () => Promise<TlsSecret | { waiting: string } | { failed: string } | undefined>

interface Options {
  known: Known
  /** What the object says: an earlier process may have installed a certificate and not come to the end with it. */
  before: () => Pick<Verdict, 'reason'> | undefined
  source: TlsSource
  folder: string
  /** host:port that libvirt serves TLS on; left out: not looked at. */
  served?: string | undefined
  systemd: () => Systemd | undefined
  changed: () => void
  clock: () => Date
  log: Logger
  signal: AbortSignal
}

const weekMs = 7 * 24 * 3_600_000
const updateUnits = ['virt-admin-server-update-tls.service', 'libvirtd.service']

const verdict = (status: 'True' | 'False', reason: string, message: string): Verdict => ({
  type: 'TLSCertificateInstalled',
  status,
  reason,
  message
})

const decode = (data: Record<string, string> | undefined, name: string): string =>
  Buffer.from(data?.[name] ?? '', 'base64').toString()

/** The secret that cert-manager fills, read by its name (NA-28). */
export const fromSecret =
  (kube: Pick<Kube, 'find'>, { name, namespace }: { name: string; namespace: string }): TlsSource =>
  async () => {
    const found = await kube.find(Secret, name, namespace)
    if (found === undefined) return undefined // not yet issued
    return { ca: decode(found.data, 'ca.crt'), cert: decode(found.data, 'tls.crt'), key: decode(found.data, 'tls.key') }
  }

export function certificates({ known, before, source, folder, served, systemd, changed, clock, log, signal }: Options) {
  const say = (status: 'True' | 'False', reason: string, message: string): void => {
    known.certificate = verdict(status, reason, message)
    changed()
  }

  async function reload(): Promise<string | undefined> {
    const manager = systemd()
    if (manager === undefined) return 'systemd cannot be reached'
    const results: string[] = []
    for (const unit of updateUnits) {
      const result = await manager.start(unit, signal).catch((err: Error) => err.message)
      if (result === 'done') return undefined
      results.push(`${unit}: ${result}`)
    }
    return results.join('; ')
  }

  /** One look; told by the caller's clock, again and again. */
  return async function look(): Promise<void> {
    const tls = await source()
    if (tls === undefined) return undefined
    if ('waiting' in tls) return say('False', 'Installing', tls.waiting)
    if ('failed' in tls) return say('False', 'FailedToUpdateTLSCertificate', tls.failed)
    const unfinished = ['Installing', 'FailedToStartUpdateTLSService'].includes((known.certificate ?? before())?.reason ?? '')
    const problem = problemOf(tls, clock())
    if (problem !== undefined) return say('False', 'FailedToUpdateTLSCertificate', problem)
    if (!(await isInstalled(folder, tls))) {
      say('False', 'Installing', 'a new certificate is being installed')
      try {
        await install(folder, tls)
      } catch (err) {
        log.error({ err }, 'the certificate could not be installed')
        return say('False', 'FailedToUpdateTLSCertificate', (err as Error).message)
      }
      const failed = await reload()
      if (failed !== undefined) return say('False', 'FailedToStartUpdateTLSService', failed)
      log.info({ validTo: new X509Certificate(tls.cert).validTo }, 'a new certificate was installed')
    } else if (unfinished) {
      const failed = await reload()
      if (failed !== undefined) return say('False', 'FailedToStartUpdateTLSService', failed)
    }
    if (
      served !== undefined &&
      (await fingerprintAt(served).catch((err: Error) => err.message)) !== new X509Certificate(tls.cert).fingerprint256
    )
      return say('False', 'FailedToUpdateTLSCertificate', `${served} serves another certificate`)
    if (expiresWithin(tls, weekMs, clock())) return say('False', 'Expiring', 'the certificate expires within 7 days')
    return say('True', 'Ready', 'the certificate is installed')
  }
}

async function fingerprintAt(address: string): Promise<string> {
  const at = address.lastIndexOf(':')
  const socket = connect({
    host: address.slice(0, at),
    port: Number(address.slice(at + 1)),
    rejectUnauthorized: false,
    timeout: 5000
  })
  try {
    await Promise.race([
      once(socket, 'secureConnect'),
      once(socket, 'timeout').then(() => Promise.reject(new Error('no answer')))
    ])
    return socket.getPeerX509Certificate()?.fingerprint256 ?? ''
  } finally {
    socket.destroy()
  }
}
