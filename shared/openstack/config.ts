// How a function reaches OpenStack: the variables that every OpenStack user knows, as fields of its configuration.
import { Type, type Static } from 'typebox'
import { envName, Secret } from '../runtime/config.ts'

const text = (description: string) => Type.Optional(Type.String({ minLength: 1, description }))
const secret = (description: string) => Type.Optional(Secret({ description }))

/** `osAuthUrl` is read from OS_AUTH_URL, or from the file that OS_AUTH_URL_FILE names, or from the file `osAuthUrl` in CONFIG_DIR. */
export const openStackFields = {
  osCloud: text('which cloud of clouds.yaml'),
  osClientConfigFile: text('path of clouds.yaml; used in place of the variables below'),
  osClientSecureFile: text('path of secure.yaml, laid over clouds.yaml'),
  osAuthType: text('password, token or v3applicationcredential; told from what is given when left out'),
  osAuthUrl: text('address of Keystone'),
  osUsername: text('name of the user'),
  osUserId: text('id of the user'),
  osPassword: secret('password of the user'),
  osToken: secret('a token in place of a password'),
  osUserDomainName: text('domain of the user'),
  osUserDomainId: text('domain of the user'),
  osProjectName: text('project to work in'),
  osProjectId: text('project to work in'),
  osProjectDomainName: text('domain of the project'),
  osProjectDomainId: text('domain of the project'),
  osSystemScope: text('`all` for a system-scoped token'),
  osApplicationCredentialId: text('id of an application credential'),
  osApplicationCredentialName: text('name of an application credential'),
  osApplicationCredentialSecret: secret('secret of an application credential'),
  osRegionName: text('region whose endpoints are used'),
  osInterface: text('public, internal or admin'),
  osCacert: text('file of certificates to trust instead of the system ones'),
  osInsecure: text('`true` accepts any certificate; for trials only')
}

export const OpenStackConfig = Type.Object(openStackFields)
export type OpenStackConfig = Readonly<Static<typeof OpenStackConfig>>

/** The fields of a second identity, as `testOsUsername` (TEST_OS_USERNAME). What is not given is taken from the first. */
export function prefixed(prefix: string): Record<string, (typeof openStackFields)[keyof typeof openStackFields]> {
  return Object.fromEntries(Object.entries(openStackFields).map(([field, type]) => [prefixedName(prefix, field), type]))
}

const prefixedName = (prefix: string, field: string): string => `${prefix}${field.charAt(0).toUpperCase()}${field.slice(1)}`

/** The configuration of a second identity: its own fields over those of the first. Its project is its own, never the first one's. */
export function underPrefix(config: Readonly<Record<string, unknown>>, prefix: string): OpenStackConfig {
  const fields = Object.keys(openStackFields) as (keyof OpenStackConfig)[]
  const own = fields.flatMap(field => {
    const inherited = field.startsWith('osProject') ? undefined : config[field]
    const value = config[prefixedName(prefix, field)] ?? inherited
    return typeof value === 'string' ? [[field, value]] : []
  })
  return Object.fromEntries(own) as OpenStackConfig
}

/** As the environment would have it. */
export function toEnv(config: OpenStackConfig): Record<string, string> {
  const fields = Object.keys(openStackFields) as (keyof OpenStackConfig)[]
  return Object.fromEntries(fields.flatMap(field => (config[field] === undefined ? [] : [[envName(field), config[field]]])))
}
