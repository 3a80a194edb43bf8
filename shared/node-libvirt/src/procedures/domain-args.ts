// The two commonest argument lists
import { type Domain, writeDomain } from '../domain.ts'
import type { Writer } from '../xdr/writer.ts'

export interface DomainOnly {
  readonly domain: Domain
}

export interface DomainFlags extends DomainOnly {
  readonly flags?: number
}

export const encodeDomain = (w: Writer, { domain }: DomainOnly): void => void writeDomain(w, domain)

export const encodeDomainFlags = (w: Writer, { domain, flags = 0 }: DomainFlags): void => void writeDomain(w, domain).uint(flags)
