// Microversions: what is offered, and what a request may ask for.
import { nova, placement } from './refusal.ts'
import type { Reply, Service } from './request.ts'

export interface Offered {
  min: string
  max: string
}

export type Versions = Record<'compute' | 'placement', Offered>

export const hasVersions = (service: Service): service is keyof Versions => service === 'compute' || service === 'placement'

const minor = (version: string): number => Number(version.split('.')[1])

/** The minor number of the version that a request is answered with; without a header it is the oldest. */
export function chosen(service: keyof Versions, header: string | undefined, { min, max }: Offered): number {
  const asked = header?.startsWith(`${service} `) ? header.slice(service.length + 1) : min
  if (minor(asked) < minor(min) || minor(asked) > minor(max)) {
    const refuse = service === 'compute' ? nova : placement
    throw refuse(406, `Version ${asked} is not supported by the API. Minimum is ${min} and maximum is ${max}.`)
  }
  return minor(asked)
}

export function versionDocument(service: keyof Versions, { min, max }: Offered): Reply {
  const compute = { version: { id: 'v2.1', status: 'CURRENT', version: max, min_version: min } }
  const placement = { versions: [{ id: 'v1.0', status: 'CURRENT', max_version: max, min_version: min }] }
  return { status: 200, body: service === 'compute' ? compute : placement }
}
