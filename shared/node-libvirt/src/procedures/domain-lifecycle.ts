// Making domains come and go. Numbers are REMOTE_PROC_DOMAIN_*.
import { type Domain, readDomain } from '../domain.ts'
import { type DomainFlags, type DomainOnly, encodeDomain, encodeDomainFlags } from './domain-args.ts'
import { nothing, type Procedure } from './procedure.ts'

// 10 DOMAIN_CREATE_XML: string xml, unsigned flags -> domain, a transient one
export const domainCreateXml: Procedure<{ xml: string; flags?: number }, Domain> = {
  number: 10,
  encode: (w, { xml, flags = 0 }) => void w.string(xml).uint(flags),
  decode: readDomain
}
/** VIR_DOMAIN_START_* */
export const START = { paused: 1, autodestroy: 2 } as const

// 28 DOMAIN_RESUME, 34 DOMAIN_SUSPEND: domain
export const domainResume: Procedure<DomainOnly, void> = {
  number: 28,
  encode: encodeDomain,
  decode: nothing
}
export const domainSuspend: Procedure<DomainOnly, void> = {
  number: 34,
  encode: encodeDomain,
  decode: nothing
}

const withFlags = (number: number): Procedure<DomainFlags, void> => ({
  number,
  encode: encodeDomainFlags,
  decode: nothing
})

// 27 DOMAIN_REBOOT, 245 DOMAIN_RESET, 258 DOMAIN_SHUTDOWN_FLAGS: domain, unsigned flags
export const domainReboot = withFlags(27)
export const domainReset = withFlags(245)
export const domainShutdown = withFlags(258)

// 231 DOMAIN_UNDEFINE_FLAGS, 234 DOMAIN_DESTROY_FLAGS: domain, unsigned flags
export const domainUndefine = withFlags(231)
export const domainDestroy = withFlags(234)

// 196 DOMAIN_CREATE_WITH_FLAGS: domain (defined), unsigned flags -> domain
export const domainCreate: Procedure<DomainFlags, Domain> = {
  number: 196,
  encode: encodeDomainFlags,
  decode: readDomain
}

// 350 DOMAIN_DEFINE_XML_FLAGS: string xml, unsigned flags -> domain
export const domainDefineXml: Procedure<{ xml: string; flags?: number }, Domain> = {
  number: 350,
  encode: (w, { xml, flags = 0 }) => void w.string(xml).uint(flags),
  decode: readDomain
}
