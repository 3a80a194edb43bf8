// clouds.yaml, and secure.yaml laid over it: https://docs.openstack.org/openstacksdk/latest/user/config/configuration.html
import { parse } from 'yaml'
import type { ConnectOptions } from '../connect.ts'
import { OpenStackError } from '../error.ts'
import { type Settings, toOptions } from './settings.ts'

/** One cloud of the file; without a name the only one in it. */
export function fromCloudsYaml(text: string, name?: string, secureText?: string): ConnectOptions {
  const clouds = cloudsIn(text, 'clouds.yaml')
  const names = Object.keys(clouds)
  const chosen = name ?? (names.length === 1 ? names[0] : undefined)
  const cloud = chosen === undefined ? undefined : clouds[chosen]
  if (chosen === undefined || !isMap(cloud)) {
    throw new OpenStackError(
      'BadConfig',
      `clouds.yaml: ${chosen === undefined ? 'name one' : `no cloud ${chosen}`} of ${names.join(', ') || 'none'}`
    )
  }
  if (cloud['profile'] !== undefined)
    throw new OpenStackError('BadConfig', `clouds.yaml: ${chosen} uses a vendor profile, which is not supported`)
  const secure = secureText === undefined ? undefined : cloudsIn(secureText, 'secure.yaml')[chosen]
  return toOptions({ ...flat(cloud), ...(isMap(secure) ? flat(secure) : {}) }, setting => `clouds.yaml: ${chosen}: ${setting}`)
}

function cloudsIn(text: string, file: string): Record<string, unknown> {
  let document: unknown
  try {
    document = parse(text)
  } catch {
    throw new OpenStackError('BadConfig', `${file} is not YAML`) // the parser's own words would quote the line, password included
  }
  const clouds = isMap(document) ? document['clouds'] : undefined
  if (!isMap(clouds)) throw new OpenStackError('BadConfig', `${file} has no "clouds"`)
  return clouds
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What stands under `auth` means the same as what stands beside it. */
function flat({ auth, regions, verify, ...rest }: Record<string, unknown>): Settings {
  const only = Array.isArray(regions) && regions.length === 1 ? (isMap(regions[0]) ? regions[0]['name'] : regions[0]) : undefined
  const all = {
    ...(only !== undefined && { region_name: only }),
    ...(verify === false && { insecure: 'true' }),
    ...rest,
    ...(isMap(auth) ? auth : {})
  }
  const plain = Object.entries(all).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
  return Object.fromEntries(plain.map(([name, value]) => [name, String(value)]))
}
