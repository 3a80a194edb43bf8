// The simulated libvirt's answers, from the domains of its host.
import { type Domain, procedures } from 'node-libvirt'
import { type Hypervisor, refusal } from 'node-libvirt/server'
import type { WorldClock } from '../../openstack/index.ts'
import { domainXml, isActive, reference, specOf, type SimDomain } from '../domains/domain.ts'
import type { Domains } from '../domains/domains.ts'
import { jobParams } from '../domains/job.ts'
import { capabilitiesXml, domainCapabilitiesXml, type Machine } from './documents.ts'

const NO_DOMAIN = 42
const OPERATION_INVALID = 55
const libVersion = 9_000_000n
const qemuVersion = 7_002_022n

export interface Options {
  name: string
  domains: Domains
  clock: WorldClock
  machine: Machine
  newUuid: () => string
  /** A client asks to end the move of a domain. */
  onAbort?: (domain: SimDomain) => void
}

export function hypervisorOf({ name, domains, clock, machine, newUuid, onAbort }: Options): Hypervisor {
  const found = ({ uuid, name: called }: Pick<Domain, 'uuid' | 'name'>): SimDomain => {
    const domain = domains.find(uuid)
    if (!domain) throw refusal(NO_DOMAIN, `Domain not found: no domain with matching uuid '${uuid}' (${called})`)
    return domain
  }
  const running = (domain: Domain): SimDomain => {
    const one = found(domain)
    if (!isActive(one)) throw refusal(OPERATION_INVALID, 'Requested operation is not valid: domain is not running')
    return one
  }
  const capabilities = capabilitiesXml(machine) // one text for all that ask
  return {
    type: () => 'QEMU',
    version: () => qemuVersion,
    libVersion: () => libVersion,
    hostname: () => name,
    uri: () => 'qemu:///system',
    capabilities: () => capabilities,
    domainCapabilities: () => domainCapabilitiesXml,
    nodeInfo: () => ({
      model: 'x86_64',
      memoryKiB: BigInt(machine.cells * machine.memoryGiBInCell) * 1024n * 1024n,
      cpus: machine.cells * machine.cpusInCell,
      mhz: 2600,
      numaNodes: machine.cells,
      socketsPerNode: 1,
      coresPerSocket: machine.cpusInCell,
      threadsPerCore: 1
    }),
    listAllDomains: ({ flags }) => listed(domains, flags).map(reference),
    lookupByName: ({ name: wanted }) => reference(byName(domains, wanted)),
    lookupByUuid: ({ uuid }) => reference(found({ uuid, name: '' })),
    state: ({ domain }) => found(domain).state,
    xml: ({ domain }) => domainXml(found(domain)),
    jobStats: ({ domain, flags }) => jobStats(found(domain), flags, clock.now()),
    abortJob: ({ domain }) => onAbort?.(running(domain)),
    defineXml: ({ xml }) => reference(domains.define(specOf(xml, newUuid))),
    createXml({ xml }) {
      const domain = domains.define(specOf(xml, newUuid), { transient: true })
      domains.start(domain)
      return reference(domain)
    },
    create({ domain }) {
      domains.start(found(domain))
      return reference(found(domain))
    },
    suspend: ({ domain }) => domains.pause(running(domain), 'user'),
    resume: ({ domain }) => domains.resume(running(domain)),
    reset: ({ domain }) => domains.reset(running(domain)),
    destroy: ({ domain }) => domains.stop(running(domain), 'destroyed'),
    undefine: ({ domain }) => domains.undefine(found(domain))
  }
}

function listed(domains: Domains, flags: number): SimDomain[] {
  const { active, inactive } = procedures.LIST
  const wanted = flags & (active | inactive)
  return domains.all().filter(domain => wanted === 0 || (wanted & (isActive(domain) ? active : inactive)) !== 0)
}

function byName(domains: Domains, name: string): SimDomain {
  const domain = domains.all().find(one => one.name === name)
  if (!domain) throw refusal(NO_DOMAIN, `Domain not found: no domain with matching name '${name}'`)
  return domain
}

function jobStats(domain: SimDomain, flags: number, nowMs: number): procedures.JobStats {
  if ((flags & procedures.JOB_STATS.completed) !== 0) {
    const params = domain.lastJob ?? []
    if ((flags & procedures.JOB_STATS.keepCompleted) === 0) delete domain.lastJob
    return { type: params.length > 0 ? 'completed' : 'none', params }
  }
  if (!domain.job) return { type: 'none', params: [] }
  return { type: 'unbounded', params: jobParams(domain, domain.job, nowMs) }
}
