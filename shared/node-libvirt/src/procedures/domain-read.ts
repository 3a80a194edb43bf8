// Asking about one domain. Numbers are REMOTE_PROC_DOMAIN_*.
import { writeDomain } from '../domain.ts'
import { type DomainState, type DomainStateName, domainState, domainStateName } from '../domain-state.ts'
import { readTypedParams, type TypedParam } from '../typed-param.ts'
import { type Word, word } from '../words.ts'
import { type DomainFlags, type DomainOnly, encodeDomain, encodeDomainFlags } from './domain-args.ts'
import type { Procedure } from './procedure.ts'

// 14 DOMAIN_GET_XML_DESC: domain, unsigned flags -> string xml
export const domainGetXmlDesc: Procedure<DomainFlags, string> = {
  number: 14,
  encode: encodeDomainFlags,
  decode: r => r.string()
}
/** VIR_DOMAIN_XML_* */
export const XML = { secure: 1, inactive: 2, updateCpu: 4, migratable: 8 } as const

export interface DomainInfo {
  readonly state: DomainStateName | number
  readonly maxMemoryKiB: bigint
  readonly memoryKiB: bigint
  readonly vcpus: number
  readonly cpuTimeNs: bigint
}

// 16 DOMAIN_GET_INFO: domain -> unsigned char state, unsigned hyper max KiB, unsigned hyper KiB, unsigned short vcpus, unsigned hyper ns
export const domainGetInfo: Procedure<DomainOnly, DomainInfo> = {
  number: 16,
  encode: encodeDomain,
  decode: r => ({
    state: domainStateName(r.uint()),
    maxMemoryKiB: r.uhyper(),
    memoryKiB: r.uhyper(),
    vcpus: r.uint(),
    cpuTimeNs: r.uhyper()
  })
}

// 19 DOMAIN_GET_OS_TYPE: domain -> string
export const domainGetOsType: Procedure<DomainOnly, string> = {
  number: 19,
  encode: encodeDomain,
  decode: r => r.string()
}

// 150 DOMAIN_IS_ACTIVE, 151 DOMAIN_IS_PERSISTENT: domain -> int
export const domainIsActive: Procedure<DomainOnly, boolean> = {
  number: 150,
  encode: encodeDomain,
  decode: r => r.bool()
}
export const domainIsPersistent: Procedure<DomainOnly, boolean> = {
  number: 151,
  encode: encodeDomain,
  decode: r => r.bool()
}

// 159 DOMAIN_MEMORY_STATS: domain, unsigned how many, unsigned flags -> (int tag, unsigned hyper value)[]
export const domainMemoryStats: Procedure<DomainFlags, { tag: Word<typeof memoryTags>; value: bigint }[]> = {
  number: 159,
  encode: (w, { domain, flags = 0 }) => void writeDomain(w, domain).uint(memoryTags.length).uint(flags),
  decode: r => r.list(() => ({ tag: word(memoryTags, r.int()), value: r.uhyper() }), 12)
}
// virDomainMemoryStatTags
const memoryTags = [
  'swap-in',
  'swap-out',
  'major-fault',
  'minor-fault',
  'unused',
  'available',
  'actual-balloon',
  'rss',
  'usable',
  'last-update',
  'disk-caches',
  'hugetlb-pgalloc',
  'hugetlb-pgfail'
] as const

// 212 DOMAIN_GET_STATE: domain, unsigned flags -> int state, int reason
export const domainGetState: Procedure<DomainFlags, DomainState> = {
  number: 212,
  encode: encodeDomainFlags,
  decode: r => domainState(r.int(), r.int())
}

export interface ControlInfo {
  readonly state: Word<typeof controlStates>
  /** of state "error": virDomainControlErrorReason */
  readonly details: Word<typeof controlErrors>
  readonly sinceMs: bigint
}
export const controlStates = ['ok', 'job', 'occupied', 'error'] as const
export const controlErrors = ['none', 'unknown', 'monitor', 'internal'] as const

// 229 DOMAIN_GET_CONTROL_INFO: domain, unsigned flags -> unsigned state, unsigned details, unsigned hyper ms
export const domainGetControlInfo: Procedure<DomainFlags, ControlInfo> = {
  number: 229,
  encode: encodeDomainFlags,
  decode: r => ({ state: word(controlStates, r.uint()), details: word(controlErrors, r.uint()), sinceMs: r.uhyper() })
}

/** virDomainMetadataType: only "element" has a URI */
export const METADATA = { description: 0, title: 1, element: 2 } as const

// 264 DOMAIN_SET_METADATA: domain, int type, string? metadata, string? key, string? uri, unsigned flags
export const domainSetMetadata: Procedure<
  DomainFlags & { type: number; metadata: string | null; key?: string; uri?: string },
  void
> = {
  number: 264,
  encode: (w, { domain, type, metadata, key, uri, flags = 0 }) => {
    writeDomain(w, domain).int(type)
    for (const value of [metadata, key, uri]) w.optional(value, v => w.string(v))
    w.uint(flags)
  },
  decode: () => {}
}

// 265 DOMAIN_GET_METADATA: domain, int type, string? uri, unsigned flags -> string
export const domainGetMetadata: Procedure<DomainFlags & { type: number; uri?: string }, string> = {
  number: 265,
  encode: (w, { domain, type, uri, flags = 0 }) =>
    void writeDomain(w, domain)
      .int(type)
      .optional(uri, v => w.string(v))
      .uint(flags),
  decode: r => r.string()
}

// 418 DOMAIN_GET_GUEST_INFO: domain, unsigned types (0: all), unsigned flags -> typed parameter[]
export const domainGetGuestInfo: Procedure<DomainFlags & { types?: number }, TypedParam[]> = {
  number: 418,
  encode: (w, { domain, types = 0, flags = 0 }) => void writeDomain(w, domain).uint(types).uint(flags),
  decode: readTypedParams
}
