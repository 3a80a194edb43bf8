// Finding domains. Numbers are REMOTE_PROC_*.
import { DOMAIN_BYTES, type Domain, readDomain, writeDomain, writeUuid } from '../domain.ts'
import { readTypedParams, type TypedParam } from '../typed-param.ts'
import type { Procedure } from './procedure.ts'

// 22 DOMAIN_LOOKUP_BY_ID: int id -> domain
export const domainLookupById: Procedure<{ id: number }, Domain> = {
  number: 22,
  encode: (w, { id }) => void w.int(id),
  decode: readDomain
}

// 23 DOMAIN_LOOKUP_BY_NAME: string name -> domain
export const domainLookupByName: Procedure<{ name: string }, Domain> = {
  number: 23,
  encode: (w, { name }) => void w.string(name),
  decode: readDomain
}

// 24 DOMAIN_LOOKUP_BY_UUID: uuid -> domain
export const domainLookupByUuid: Procedure<{ uuid: string }, Domain> = {
  number: 24,
  encode: (w, { uuid }) => void writeUuid(w, uuid),
  decode: readDomain
}

/** VIR_CONNECT_LIST_DOMAINS_*: flags of one group are alternatives, groups must all hold; none: every domain. */
export const LIST = {
  active: 1,
  inactive: 2,
  persistent: 4,
  transient: 8,
  running: 16,
  paused: 32,
  off: 64,
  other: 128
} as const

// 273 CONNECT_LIST_ALL_DOMAINS: int results wanted, unsigned flags -> domain[], unsigned count
export const connectListAllDomains: Procedure<{ flags?: number }, Domain[]> = {
  number: 273,
  encode: (w, { flags = 0 }) => void w.int(1).uint(flags),
  decode: r => {
    const domains = r.list(readDomain, DOMAIN_BYTES)
    r.uint() // the same count again
    return domains
  }
}

/** VIR_DOMAIN_STATS_*; 0 asks for all that the driver has. */
export const STATS = {
  state: 1,
  cpuTotal: 2,
  balloon: 4,
  vcpu: 8,
  interface: 16,
  block: 32,
  perf: 64,
  iothread: 128,
  memory: 256,
  dirtyRate: 512,
  vm: 1024
} as const
/** A flag of 344: what a busy domain cannot give at once is left out (VIR_CONNECT_GET_ALL_DOMAINS_STATS_NOWAIT). */
export const STATS_NO_WAIT = 1 << 29

export interface DomainStats {
  readonly domain: Domain
  readonly params: readonly TypedParam[]
}

// 344 CONNECT_GET_ALL_DOMAIN_STATS: domain[], unsigned stats, unsigned flags (LIST and STATS_NO_WAIT) -> (domain, typed parameter[])[]
export const connectGetAllDomainStats: Procedure<{ domains?: readonly Domain[]; stats?: number; flags?: number }, DomainStats[]> =
  {
    number: 344,
    encode: (w, { domains = [], stats = 0, flags = 0 }) =>
      void w
        .list(domains, domain => writeDomain(w, domain))
        .uint(stats)
        .uint(flags),
    decode: r => r.list(() => ({ domain: readDomain(r), params: readTypedParams(r) }), DOMAIN_BYTES + 4)
  }
