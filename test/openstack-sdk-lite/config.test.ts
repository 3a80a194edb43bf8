// clouds.yaml and OS_* variables, as every OpenStack user knows them.
import t from 'tap'
import { fromCloudsYaml, fromEnv } from 'openstack-sdk-lite'

const url = 'https://keystone.example.com/v3'
const env = { OS_AUTH_URL: url, OS_USERNAME: 'u', OS_PASSWORD: 'p' }

void t.test('OS_*: a password, names in the default domain', async t => {
  t.match(fromEnv({ ...env, OS_PROJECT_NAME: 'x', OS_REGION_NAME: 'r', OS_CACERT: '/ca.pem', HOME: '/root' }), {
    auth: {
      kind: 'password',
      url,
      user: { name: 'u', domain: { id: 'default' } },
      password: 'p',
      scope: { project: { name: 'x', domain: { id: 'default' } } }
    },
    region: 'r',
    caFile: '/ca.pem',
    insecure: false
  })
})

void t.test('OS_*: domains by name or id, projects by id, tenants of old, the whole system, a domain', async t => {
  const scopeOf = (more: Record<string, string>) => {
    const { auth } = fromEnv({ ...env, ...more })
    return auth.kind === 'applicationCredential' ? undefined : auth.scope
  }
  t.strictSame(scopeOf({}), undefined)
  t.strictSame(scopeOf({ OS_PROJECT_ID: 'i' }), { project: { id: 'i' } })
  t.strictSame(scopeOf({ OS_TENANT_NAME: 'x', OS_PROJECT_DOMAIN_NAME: 'd' }), { project: { name: 'x', domain: { name: 'd' } } })
  t.strictSame(scopeOf({ OS_PROJECT_NAME: 'x', OS_PROJECT_DOMAIN_ID: 'd' }), { project: { name: 'x', domain: { id: 'd' } } })
  t.strictSame(scopeOf({ OS_PROJECT_NAME: 'x', OS_DEFAULT_DOMAIN: 'd' }), { project: { name: 'x', domain: { id: 'd' } } })
  t.strictSame(scopeOf({ OS_SYSTEM_SCOPE: 'all', OS_PROJECT_NAME: 'x' }), { system: 'all' })
  t.strictSame(scopeOf({ OS_DOMAIN_NAME: 'd' }), { domain: { name: 'd' } })
  t.match(fromEnv({ ...env, OS_USERNAME: '', OS_USER_ID: 'i' }).auth, { user: { id: 'i' } })
  t.match(fromEnv({ ...env, OS_USER_DOMAIN_NAME: 'd' }).auth, { user: { name: 'u', domain: { name: 'd' } } })
})

void t.test('OS_*: the kind is told, or seen from what is given', async t => {
  const credential = { OS_AUTH_URL: url, OS_APPLICATION_CREDENTIAL_SECRET: 's' }
  t.strictSame(fromEnv({ ...credential, OS_APPLICATION_CREDENTIAL_ID: 'c' }).auth, {
    kind: 'applicationCredential',
    url,
    credential: { id: 'c' },
    secret: 's'
  })
  t.match(fromEnv({ ...credential, OS_APPLICATION_CREDENTIAL_NAME: 'n', OS_USERNAME: 'u' }).auth, {
    credential: { name: 'n', user: { name: 'u' } }
  })
  t.match(fromEnv({ OS_AUTH_URL: url, OS_TOKEN: 't' }).auth, { kind: 'token', token: 't' })
  t.match(fromEnv({ ...env, OS_TOKEN: 't' }).auth, { kind: 'password' })
  t.match(fromEnv({ ...env, OS_TOKEN: 't', OS_AUTH_TYPE: 'v3token' }).auth, { kind: 'token' })
})

void t.test('OS_*: interface, addresses of one’s own, any certificate', async t => {
  t.equal(fromEnv({ ...env, OS_INTERFACE: 'internal' }).interface, 'internal')
  t.equal(fromEnv({ ...env, OS_ENDPOINT_TYPE: 'publicURL' }).interface, 'public')
  t.strictSame(fromEnv({ ...env, OS_COMPUTE_ENDPOINT_OVERRIDE: 'http://c' }).endpoints, { compute: 'http://c' })
  t.equal(fromEnv({ ...env, OS_INSECURE: 'True' }).insecure, true)
})

void t.test('what is missing or wrong is named as its user knows it', async t => {
  const wrong = (run: () => unknown, message: RegExp) => t.throws(run, { code: 'BadConfig', message })
  wrong(() => fromEnv({ ...env, OS_AUTH_URL: '' }), /OS_AUTH_URL is missing/)
  wrong(() => fromEnv({ ...env, OS_PASSWORD: '' }), /OS_PASSWORD is missing/)
  wrong(() => fromEnv({ ...env, OS_USERNAME: '' }), /OS_USERNAME is missing/)
  wrong(() => fromEnv({ ...env, OS_AUTH_TYPE: 'v3kerberos' }), /OS_AUTH_TYPE: kerberos is none of/)
  wrong(() => fromEnv({ ...env, OS_INTERFACE: 'outer' }), /OS_INTERFACE: outer is none of/)
  wrong(() => fromCloudsYaml('clouds: { c: { auth: { auth_url: x } } }'), /clouds.yaml: c: username is missing/)
  wrong(() => fromCloudsYaml('clouds: { a: {}, b: {} }'), /name one of a, b/)
  wrong(() => fromCloudsYaml('clouds: { a: {} }', 'z'), /no cloud z of a/)
  wrong(() => fromCloudsYaml('{}'), /no "clouds"/)
  wrong(() => fromCloudsYaml('a: ['), /not YAML/)
})

const clouds = `
clouds:
  one:
    region_name: west
    interface: internal
    verify: false
    cacert: /ca.pem
    auth: { auth_url: ${url}, username: u, project_name: x, user_domain_name: d, project_domain_name: d }
  two:
    regions: [east]
    auth_type: v3applicationcredential
    auth: { auth_url: ${url}, application_credential_id: c, application_credential_secret: s }
  three:
    regions: [{ name: north }]
    auth: { auth_url: ${url}, user_id: 7, password: 123 }
`

void t.test('clouds.yaml: one of several, with secure.yaml laid over it', async t => {
  t.match(fromCloudsYaml(clouds, 'one', 'clouds: { one: { auth: { password: p } }, two: {} }'), {
    auth: { kind: 'password', url, password: 'p', user: { name: 'u', domain: { name: 'd' } }, scope: { project: { name: 'x' } } },
    region: 'west',
    interface: 'internal',
    insecure: true,
    caFile: '/ca.pem'
  })
  t.match(fromCloudsYaml(clouds, 'two'), { auth: { kind: 'applicationCredential', credential: { id: 'c' } }, region: 'east' })
  t.match(fromCloudsYaml(clouds, 'three'), { auth: { user: { id: '7' }, password: '123' }, region: 'north' })
})
