// The agent's Hypervisor: what it says about the host, and what it asks of the agent
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { KubeError, type Kube } from '../../shared/kube/index.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import type { Wiring } from './agent.ts'
import type { HostPart } from './host/follow.ts'
import { statusOf } from './status/status.ts'
import { statusWriter } from './status/writer.ts'
import { certificates, fromSecret } from './work/certificates.ts'
import { fromRequest } from './work/csr.ts'
import { resumer } from './work/resume.ts'
import { updater } from './work/updater.ts'

const absentMs = 10_000 // the kind, or the right to see it, may come later

export function followObject(wiring: Wiring, kube: Kube, host: HostPart) {
  const { config, known, store, log, clock, signal } = wiring
  let live: Hypervisor | undefined
  const wanted = (object: Hypervisor) => statusOf(known, object, clock())
  const writer = statusWriter({ kube, wanted, gapMs: config.statusGap, beatMs: config.statusBeat, log, signal })
  const changed = (): void => {
    host.guard.look(live)
    writer.changed()
  }
  const update = updater({ known, store, systemd: host.systemd, refresh: host.refreshOs, changed: writer.changed, log, signal })
  const resume = resumer({ uri: config.libvirtUri, clock, log, signal })
  const { nodeName: node, pkiFolder: folder } = config
  const addresses = (): readonly string[] => {
    const { internalIp, internalIps } = live?.status ?? {}
    return internalIps ?? (internalIp === undefined ? [] : [internalIp])
  }
  const keyFile = join(config.stateFolder, 'libvirt.key')
  const source =
    config.certificateMode === 'csr'
      ? fromRequest({ kube, node, addresses, signer: config.csrSigner, caFile: config.csrCaFile, keyFile, folder, clock })
      : fromSecret(kube, { name: `tls-libvirt-${node}`, namespace: config.secretNamespace })
  const lookAtCertificate = certificates({
    known,
    before: () => live?.status?.conditions?.find(({ type }) => type === 'TLSCertificateInstalled'),
    source,
    folder,
    served: config.tlsAddress,
    systemd: host.systemd,
    changed: writer.changed,
    clock,
    log,
    signal
  })

  function saw(object: Hypervisor | undefined): void {
    live = object
    writer.saw(object)
    host.guard.look(object)
    if (!object) return
    update(object)
    resume(object)
  }

  async function follow(): Promise<void> {
    const fieldSelector = `metadata.name=${config.nodeName}`
    while (!signal.aborted) {
      try {
        for await (const seen of kube.watch(Hypervisor, { fieldSelector, signal })) {
          if (seen.type === 'snapshot') saw(seen.items[0])
          else saw(seen.type === 'deleted' ? undefined : seen.object)
        }
      } catch (err) {
        if (!(err instanceof KubeError)) throw err
        log.warn({ err }, 'the Hypervisor cannot be watched')
      }
      await sleep(absentMs, undefined, { signal }).catch(() => {}) // aborted: the loop ends
    }
  }

  /** Both go on by the clock: a secret is only read, never watched (NA-28), and an update waits for what the object does not tell. */
  async function byClock(): Promise<void> {
    while (!signal.aborted) {
      if (live?.spec?.installCertificate === true)
        await lookAtCertificate().catch(err => log.warn({ err }, 'the certificate could not be looked at'))
      if (live) update(live)
      await sleep(config.certificateCheck, undefined, { signal }).catch(() => {}) // aborted: the loop ends
    }
  }

  return {
    changed,
    run: async () => {
      await Promise.all([follow(), writer.run(), byClock()])
    }
  }
}
