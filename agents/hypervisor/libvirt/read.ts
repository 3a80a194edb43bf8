// What is read of the host and of a domain. A part that cannot be read never stops the others (NA-4, NA-11).
import { isConnectionLost, LibvirtError, procedures, type Domain, type Libvirt } from 'node-libvirt'
import { domainCapabilities } from '../figures/domain-capabilities.ts'
import { domainFigures } from '../figures/domain.ts'
import { hostFigures, singleCell, type HostFigures } from '../figures/host.ts'
import { unreadable, type Control, type DomainRead, type Link } from './fact.ts'

/** Undefined when it fails; a lost connection is another matter. */
async function tried<T>(read: () => Promise<T>, failed: (err: Error) => void): Promise<T | undefined> {
  try {
    return await read()
  } catch (err) {
    if (isConnectionLost(err)) throw err
    failed(err as Error)
    return undefined
  }
}

export async function readLink(virt: Libvirt, missingEvents: readonly string[] = []): Promise<Link> {
  const unread = missingEvents.length > 0 ? [`events that this libvirt does not tell: ${missingEvents.join(', ')}`] : []
  let failed = false
  const part = <T>(name: string, read: () => Promise<T>) =>
    tried(read, err => {
      unread.push(`${name}: ${err.message}`)
      if (!(err instanceof LibvirtError) || err.code !== 'unsupported') failed = true // a driver need not have everything
    })
  const version = async (row: typeof procedures.connectGetLibVersion) => procedures.formatVersion(await virt.call(row))
  const [libvirtVersion, hypervisorVersion, host, capabilities] = await Promise.all([
    part('libvirt version', () => version(procedures.connectGetLibVersion)),
    part('hypervisor version', () => version(procedures.connectGetVersion)),
    part('capabilities', () => readHost(virt)),
    part('domain capabilities', async () => domainCapabilities(await virt.call(procedures.connectGetDomainCapabilities)))
  ])
  return {
    ...(libvirtVersion !== undefined && { libvirtVersion }),
    ...(hypervisorVersion !== undefined && { hypervisorVersion }),
    ...(host !== undefined && { host }),
    ...(capabilities !== undefined && { domainCapabilities: capabilities }),
    unread,
    failed
  }
}

async function readHost(virt: Libvirt): Promise<HostFigures> {
  const host = hostFigures(await virt.call(procedures.connectGetCapabilities))
  if (host.cells.length > 0) return host
  const { cpus, memoryKiB } = await virt.call(procedures.nodeGetInfo)
  return singleCell(host.arch, cpus, memoryKiB * 1024n)
}

const gone = (err: unknown): boolean => err instanceof LibvirtError && err.code === 'no-domain'

/** Undefined when libvirt cannot tell. It never waits for the domain, however stuck that is. */
export async function readControl(virt: Libvirt, domain: Domain, log: (err: Error) => void): Promise<Control | undefined> {
  const told = await tried(
    () => virt.call(procedures.domainGetControlInfo, { domain }),
    err => (gone(err) ? undefined : log(err))
  )
  return told && { state: String(told.state), details: String(told.details) }
}

/** Undefined when there is no such domain any more. */
export async function readDomain(virt: Libvirt, domain: Domain, log: (err: Error) => void): Promise<DomainRead | undefined> {
  try {
    const [{ state, reason }, figures] = await Promise.all([
      virt.domainState(domain),
      tried(
        async () => domainFigures(await virt.domainXml(domain)),
        err => (gone(err) ? undefined : log(err))
      )
    ])
    return { id: domain.uuid, name: domain.name, state: String(state), reason: String(reason), ...(figures && { figures }) }
  } catch (err) {
    if (gone(err)) return undefined
    if (isConnectionLost(err) || !(err instanceof LibvirtError)) throw err
    log(err)
    return { id: domain.uuid, name: domain.name, state: unreadable, reason: err.code }
  }
}
