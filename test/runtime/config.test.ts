import { inspect } from 'node:util'
import t from 'tap'
import { Type, type TObject } from 'typebox'
import { ConfigError, Duration, readConfig, Secret, type Env } from '../../shared/runtime/config.ts'
import { durationMs } from '../../shared/runtime/config-field.ts'

const canary = 'canary-93ab'
const schema = Type.Object({
  authUrl: Type.String({ pattern: '^https?://' }),
  maxBodyBytes: Type.Integer({ minimum: 1, default: 10 }),
  ratio: Type.Optional(Type.Number()),
  verify: Type.Boolean({ default: true }),
  interval: Duration({ default: '30s' }),
  zones: Type.Array(Type.String(), { default: [] }),
  ports: Type.Optional(Type.Array(Type.Integer())),
  family: Type.Enum(['ipv4', 'ipv6'], { default: 'ipv4' }),
  level: Type.Optional(Type.Union([Type.Literal('low'), Type.Literal('high')])),
  password: Type.Optional(Secret())
})
const defaults = { authUrl: 'http://a', maxBodyBytes: 10, verify: true, interval: 30_000, zones: [], family: 'ipv4' }

const good: Array<[name: string, env: Env, then: Record<string, unknown>]> = [
  ['defaults', {}, {}],
  ['an empty variable is an absent one', { RATIO: '', MAX_BODY_BYTES: '' }, {}],
  ['numbers', { MAX_BODY_BYTES: '5', RATIO: '0.25' }, { maxBodyBytes: 5, ratio: 0.25 }],
  ['booleans', { VERIFY: 'False' }, { verify: false }],
  ['durations', { INTERVAL: '1h30m' }, { interval: 5_400_000 }],
  ['lists', { ZONES: 'a, b,,c', PORTS: '1,2' }, { zones: ['a', 'b', 'c'], ports: [1, 2] }],
  ['choices', { FAMILY: 'ipv6', LEVEL: 'high' }, { family: 'ipv6', level: 'high' }],
  ['a file that a variable names', { PASSWORD_FILE: '/run/secret' }, { password: 'from file' }],
  ['a mounted folder', { CONFIG_DIR: '/etc/f' }, { zones: ['x', 'y'], password: 'mounted' }],
  ['the variable before the folder', { CONFIG_DIR: '/etc/f', ZONES: 'z', PASSWORD: 'p' }, { zones: ['z'], password: 'p' }]
]
const texts: Record<string, string> = { '/run/secret': 'from file\n', '/etc/f/zones': 'x,y\n', '/etc/f/password': 'mounted' }
const files = (path: string): string | undefined => texts[path]
for (const [name, env, then] of good) {
  t.test(`reads ${name}`, async t => {
    t.strictSame({ ...readConfig(schema, { env: { AUTH_URL: 'http://a', ...env }, files }) }, { ...defaults, ...then })
  })
}

const bad: Array<[env: Env, problem: string]> = [
  [{ AUTH_URL: '' }, 'AUTH_URL is missing, expected a string, like ^https?://'],
  [{ AUTH_URL: 'ftp://a' }, "AUTH_URL is 'ftp://a', expected a string, like ^https?://"],
  [{ MAX_BODY_BYTES: '0' }, "MAX_BODY_BYTES is '0', expected an integer, at least 1"],
  [{ MAX_BODY_BYTES: '1.5' }, "MAX_BODY_BYTES is '1.5', expected an integer, at least 1"],
  [{ RATIO: 'half' }, "RATIO is 'half', expected a number"],
  [{ VERIFY: 'yes' }, "VERIFY is 'yes', expected a boolean"],
  [{ INTERVAL: '30' }, "INTERVAL is '30', expected a duration such as 30s or 5m"],
  [{ PORTS: '1,x' }, "PORTS is '1,x', expected a comma-separated list, each an integer"],
  [{ FAMILY: 'ipx' }, "FAMILY is 'ipx', expected one of ipv4, ipv6"],
  [{ LEVEL: 'mid' }, "LEVEL is 'mid', expected one of low, high"],
  [{ PASSWORD_FILE: '/nowhere' }, 'PASSWORD is to be read from /nowhere, which does not exist'],
  [{ PASSWORD: canary, PASSWORD_FILE: '/run/secret' }, 'PASSWORD is given twice, also as PASSWORD_FILE']
]
const problemsOf = (given: TObject, env: Env): readonly string[] => {
  try {
    readConfig(given, { env, files })
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}
for (const [env, problem] of bad) {
  t.test(problem, async t => t.strictSame(problemsOf(schema, { AUTH_URL: 'http://a', ...env }), [problem]))
}

t.test('every problem at once', async t => {
  t.equal(problemsOf(schema, { RATIO: 'x', VERIFY: 'y', FAMILY: 'z' }).length, 4)
})

t.test('frozen, lists included', async t => {
  const config = readConfig(schema, { env: { AUTH_URL: 'http://a', ZONES: 'a' } })
  t.ok(Object.isFrozen(config) && Object.isFrozen(config.zones))
})

t.test('a secret can be used but is never printed', async t => {
  const config = readConfig(schema, { env: { AUTH_URL: 'http://a', PASSWORD: canary } })
  t.equal(config.password, canary)
  for (const shown of [JSON.stringify(config), JSON.stringify({ config }), inspect(config), inspect({ a: { config } })]) {
    t.notMatch(shown, canary)
  }
  t.match(inspect(config), /password: '\*\*\*'/)
  const strict = Type.Object({ token: Type.String({ secret: true, minLength: 40 }) })
  t.strictSame(problemsOf(strict, { TOKEN: canary }), ['TOKEN is not valid, expected a string'])
})

t.test('durations', async t => {
  for (const [text, ms] of [
    ['250ms', 250],
    ['1.5s', 1500],
    ['2m', 120_000],
    ['1h', 3_600_000]
  ] as const)
    t.equal(durationMs(text), ms)
  for (const text of ['', '5', 's', '-1s', '1d', '1s ']) t.equal(durationMs(text), undefined, text)
  t.throws(() => Duration({ default: 'soon' }), TypeError)
})
