// Disks and interfaces of one domain. Numbers are REMOTE_PROC_DOMAIN_*.
import { type Domain, writeDomain } from '../domain.ts'
import { blockJobTypes } from '../events/block-job.ts'
import { readTypedParams, type TypedParam } from '../typed-param.ts'
import { type Word, word } from '../words.ts'
import { type DomainFlags } from './domain-args.ts'
import { nothing, type Procedure } from './procedure.ts'

export interface BlockStats {
  readonly readRequests: bigint
  readonly readBytes: bigint
  readonly writeRequests: bigint
  readonly writeBytes: bigint
  /** -1: not counted */
  readonly errors: bigint
}

// 64 DOMAIN_BLOCK_STATS: domain, string path -> 5 hyper
export const domainBlockStats: Procedure<{ domain: Domain; path: string }, BlockStats> = {
  number: 64,
  encode: (w, { domain, path }) => void writeDomain(w, domain).string(path),
  decode: r => ({
    readRequests: r.hyper(),
    readBytes: r.hyper(),
    writeRequests: r.hyper(),
    writeBytes: r.hyper(),
    errors: r.hyper()
  })
}

interface Traffic {
  readonly bytes: bigint
  readonly packets: bigint
  readonly errors: bigint
  readonly drops: bigint
}

// 65 DOMAIN_INTERFACE_STATS: domain, string device -> 4 hyper received, 4 hyper sent
export const domainInterfaceStats: Procedure<{ domain: Domain; device: string }, { received: Traffic; sent: Traffic }> = {
  number: 65,
  encode: (w, { domain, device }) => void writeDomain(w, domain).string(device),
  decode: r => {
    const traffic = () => ({ bytes: r.hyper(), packets: r.hyper(), errors: r.hyper(), drops: r.hyper() })
    return { received: traffic(), sent: traffic() }
  }
}

// 160 DOMAIN_ATTACH_DEVICE_FLAGS, 161 DOMAIN_DETACH_DEVICE_FLAGS: domain, string xml, unsigned flags
export const domainAttachDevice: Procedure<DomainFlags & { xml: string }, void> = {
  number: 160,
  encode: (w, { domain, xml, flags = 0 }) => void writeDomain(w, domain).string(xml).uint(flags),
  decode: nothing
}
export const domainDetachDevice: Procedure<DomainFlags & { xml: string }, void> = {
  number: 161,
  encode: (w, { domain, xml, flags = 0 }) => void writeDomain(w, domain).string(xml).uint(flags),
  decode: nothing
}

// 194 DOMAIN_GET_BLOCK_INFO: domain, string path, unsigned flags -> unsigned hyper allocation, capacity, physical (bytes)
export const domainGetBlockInfo: Procedure<
  DomainFlags & { path: string },
  { allocationBytes: bigint; capacityBytes: bigint; physicalBytes: bigint }
> = {
  number: 194,
  encode: (w, { domain, path, flags = 0 }) => void writeDomain(w, domain).string(path).uint(flags),
  decode: r => ({ allocationBytes: r.uhyper(), capacityBytes: r.uhyper(), physicalBytes: r.uhyper() })
}

export interface BlockJob {
  readonly type: Word<typeof blockJobTypes>
  readonly bandwidth: bigint
  readonly done: bigint
  readonly end: bigint
}

// 238 DOMAIN_GET_BLOCK_JOB_INFO: domain, string path, unsigned flags -> int found, int type, unsigned hyper bandwidth, done, end
export const domainGetBlockJobInfo: Procedure<DomainFlags & { path: string }, BlockJob | null> = {
  number: 238,
  encode: (w, { domain, path, flags = 0 }) => void writeDomain(w, domain).string(path).uint(flags),
  decode: r => {
    const found = r.bool()
    const job = { type: word(blockJobTypes, r.int()), bandwidth: r.uhyper(), done: r.uhyper(), end: r.uhyper() }
    return found ? job : null
  }
}

// 243 DOMAIN_BLOCK_STATS_FLAGS: domain, string path, int how many, unsigned flags -> typed parameter[], int count
export const domainBlockStatsFlags: Procedure<DomainFlags & { path: string }, TypedParam[]> = {
  number: 243,
  encode: (w, { domain, path, flags = 0 }) => void writeDomain(w, domain).string(path).int(MAX_BLOCK_STATS).uint(flags),
  decode: r => {
    const params = readTypedParams(r)
    r.int() // the same count again
    return params
  }
}
const MAX_BLOCK_STATS = 16 // REMOTE_DOMAIN_BLOCK_STATS_PARAMETERS_MAX

const diskErrors = ['none', 'unspecified', 'no-space'] as const
export interface DiskError {
  readonly disk: string
  readonly error: Word<typeof diskErrors>
}

// 263 DOMAIN_GET_DISK_ERRORS: domain, unsigned how many, unsigned flags -> (string disk, int error)[], int count
export const domainGetDiskErrors: Procedure<DomainFlags & { max?: number }, DiskError[]> = {
  number: 263,
  encode: (w, { domain, max = MAX_DISK_ERRORS, flags = 0 }) => void writeDomain(w, domain).uint(max).uint(flags),
  decode: r => {
    const errors = r.list(() => ({ disk: r.string(), error: word(diskErrors, r.int()) }), 8)
    r.int() // the same count again
    return errors
  }
}
const MAX_DISK_ERRORS = 256 // REMOTE_DOMAIN_DISK_ERRORS_MAX

const addressTypes = ['ipv4', 'ipv6'] as const
export interface GuestInterface {
  readonly name: string
  readonly mac: string | null
  readonly addresses: readonly { readonly type: Word<typeof addressTypes>; readonly address: string; readonly prefix: number }[]
}
/** virDomainInterfaceAddressesSource */
export const ADDRESS_SOURCE = { lease: 0, agent: 1, arp: 2 } as const

// 353 DOMAIN_INTERFACE_ADDRESSES: domain, unsigned source, unsigned flags -> (string name, string? mac, (int type, string, unsigned prefix)[])[]
export const domainInterfaceAddresses: Procedure<DomainFlags & { source: number }, GuestInterface[]> = {
  number: 353,
  encode: (w, { domain, source, flags = 0 }) => void writeDomain(w, domain).uint(source).uint(flags),
  decode: r =>
    r.list(
      () => ({
        name: r.string(),
        mac: r.optional(() => r.string()),
        addresses: r.list(() => ({ type: word(addressTypes, r.int()), address: r.string(), prefix: r.uint() }), 12)
      }),
      12
    )
}
