// Where each service is, for one region and one interface.
import type { Service } from '../call.ts'
import { type Row, rows, text, textOrNull } from '../decode.ts'
import { OpenStackError } from '../error.ts'

export type Interface = 'public' | 'internal' | 'admin'

export interface Endpoint {
  type: string
  region: string | null
  interface: string
  url: string
}

export interface Place {
  region?: string | undefined
  interface?: Interface | undefined
  /** addresses that replace the catalog's */
  endpoints?: Partial<Record<Service, string>> | undefined
}

export function readCatalog(token: Row): Endpoint[] {
  if (token['catalog'] === undefined) return [] // an unscoped token has none
  return rows(token, 'catalog').flatMap(service =>
    rows(service, 'endpoints').map(endpoint => ({
      type: text(service, 'type'),
      region: textOrNull(endpoint, 'region_id') ?? textOrNull(endpoint, 'region'),
      interface: text(endpoint, 'interface'),
      url: text(endpoint, 'url')
    }))
  )
}

export function findEndpoint(catalog: Endpoint[], service: Service, place: Place): string {
  const override = place.endpoints?.[service]
  if (override) return baseOf(service, override)
  const wanted = place.interface ?? 'public'
  const offered = catalog.filter(({ type, interface: face }) => type === service && face === wanted)
  const here = place.region === undefined ? offered : offered.filter(({ region }) => region === place.region)
  const regions = [...new Set(here.map(({ region }) => region))]
  if (here[0] && regions.length === 1) return baseOf(service, here[0].url)
  const where = place.region === undefined ? '' : ` in region ${place.region}`
  const why =
    here.length === 0 ? `no ${wanted} endpoint${where} in the catalog` : `endpoints in ${regions.join(', ')}: name a region`
  throw new OpenStackError('NoEndpoint', `${service}: ${why}`)
}

// Catalogs differ in whether the API version is part of the address; the rows' paths want it one way.
const bases: Record<Service, (url: string) => string> = {
  identity: url => url.replace(/\/v3$/, ''),
  compute: url => (/\/v2(\.\d)?(\/|$)/.test(url) ? url : `${url}/v2.1`),
  placement: url => url,
  image: url => url.replace(/\/v2$/, ''),
  network: url => url.replace(/\/v2\.0$/, '')
}

export const baseOf = (service: Service, url: string): string => bases[service](url.replace(/\/+$/, ''))

/** The version document of Nova is above the project id that some catalogs still append. */
export const versionsAt = (base: string): string => base.replace(/(\/v2(?:\.\d)?)\/.*$/, '$1')
