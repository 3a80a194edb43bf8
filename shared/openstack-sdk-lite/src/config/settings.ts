// The names that clouds.yaml and the OS_* variables share, turned into options.
import type { Service } from '../call.ts'
import type { ConnectOptions } from '../connect.ts'
import { OpenStackError } from '../error.ts'
import type { Auth, Domain, Named, Scope } from '../session/auth.ts'
import type { Interface } from '../session/catalog.ts'

export type Settings = Record<string, string>
type NameOf = (setting: string) => string

export function toOptions(settings: Settings, nameOf: NameOf): ConnectOptions {
  return {
    auth: authOf(settings, nameOf),
    region: settings['region_name'],
    interface: interfaceOf(settings, nameOf),
    endpoints: overrides(settings),
    caFile: settings['cacert'],
    insecure: ['true', '1', 'yes'].includes((settings['insecure'] ?? '').toLowerCase())
  }
}

function authOf(settings: Settings, nameOf: NameOf): Auth {
  const need = (name: string): string => settings[name] ?? missing(nameOf(name))
  const url = need('auth_url')
  const kind = kindOf(settings, nameOf)
  if (kind === 'token') return { kind, url, token: need('token'), ...scopeOf(settings) }
  if (kind === 'password') return { kind, url, user: userOf(settings, nameOf), password: need('password'), ...scopeOf(settings) }
  const id = settings['application_credential_id']
  const credential = id ? { id } : { name: need('application_credential_name'), user: userOf(settings, nameOf) }
  return { kind, url, credential, secret: need('application_credential_secret') }
}

function kindOf(settings: Settings, nameOf: NameOf): Auth['kind'] {
  const type = settings['auth_type']?.replace(/^v3/, '')
  if (type === 'applicationcredential') return 'applicationCredential'
  if (type === 'password' || type === 'token') return type
  if (type !== undefined)
    throw new OpenStackError('BadConfig', `${nameOf('auth_type')}: ${type} is none of password, token, v3applicationcredential`)
  if (settings['application_credential_secret']) return 'applicationCredential'
  return settings['token'] && !settings['password'] ? 'token' : 'password'
}

function userOf(settings: Settings, nameOf: NameOf): Named {
  const id = settings['user_id']
  if (id) return { id }
  const name = settings['username'] ?? missing(nameOf('username'))
  return { name, domain: domainFor(settings, 'user_domain') }
}

function scopeOf(settings: Settings): { scope?: Scope } {
  if (settings['system_scope'] === 'all') return { scope: { system: 'all' } }
  const id = settings['project_id'] ?? settings['tenant_id']
  if (id) return { scope: { project: { id } } }
  const name = settings['project_name'] ?? settings['tenant_name']
  if (name) return { scope: { project: { name, domain: domainFor(settings, 'project_domain') } } }
  const domain = domainOf(settings, 'domain')
  return domain ? { scope: { domain } } : {}
}

function domainOf(settings: Settings, prefix: string): Domain | undefined {
  const id = settings[`${prefix}_id`]
  const name = settings[`${prefix}_name`]
  return id ? { id } : name ? { name } : undefined
}

// OS_DEFAULT_DOMAIN is an id, and `default` is the id of the domain that every Keystone has
const domainFor = (settings: Settings, prefix: string): Domain =>
  domainOf(settings, prefix) ?? domainOf(settings, 'default_domain') ?? { id: settings['default_domain'] ?? 'default' }

function interfaceOf(settings: Settings, nameOf: NameOf): Interface | undefined {
  const given = (settings['interface'] ?? settings['endpoint_type'])?.replace(/URL$/, '')
  if (given === undefined || given === 'public' || given === 'internal' || given === 'admin') return given
  throw new OpenStackError('BadConfig', `${nameOf('interface')}: ${given} is none of public, internal, admin`)
}

function overrides(settings: Settings): Partial<Record<Service, string>> {
  const services: Service[] = ['identity', 'compute', 'placement', 'image', 'network']
  return Object.fromEntries(
    services.flatMap(service =>
      settings[`${service}_endpoint_override`] ? [[service, settings[`${service}_endpoint_override`]]] : []
    )
  )
}

function missing(name: string): never {
  throw new OpenStackError('BadConfig', `${name} is missing`)
}
