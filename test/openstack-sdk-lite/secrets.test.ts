// No secret in any message: a parrot in place of OpenStack answers every call with all that it was sent, in the words of each service.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { inspect } from 'node:util'
import t, { type Test } from 'tap'
import {
  type Auth,
  type CallReport,
  type Cloud,
  connect,
  fromCloudsYaml,
  fromEnv,
  OpenStackError,
  readPolicy
} from 'openstack-sdk-lite'

const password = 'canary "quoted" \\ and/long'
const secret = 'canary-credential-secret'
const canary = /canary/

type Manner = (said: string) => { type?: string; body: string }
const json = (body: object): { type: string; body: string } => ({ type: 'application/json', body: JSON.stringify(body) })
const manners: Record<string, Manner> = {
  nova: said => json({ badRequest: { code: 400, message: said } }),
  keystone: said => json({ error: { code: 400, message: said, title: said } }),
  placement: said => json({ errors: [{ status: 400, detail: said, code: said }] }),
  neutron: said => json({ NeutronError: { type: said, message: said, detail: said } }),
  'a plain word': said => json({ message: said }),
  page: said => ({ type: 'text/html', body: `<html><head>${said}</head><body>${said}</body></html>` }),
  'a page that is cut in the middle of a secret': said => ({ body: `${'x'.repeat(490)}${said}` }),
  'a page under a false flag': said => ({ type: 'application/json', body: `{${said}` })
}

interface Parrot {
  url: string
  manner: Manner
  /** tokens are refused with these words too */
  refuses: boolean
  status: number
  /** breaks the connection in place of an answer */
  breaks: boolean
  tokens: number
  /** holds the answer back */
  before: (request: IncomingMessage) => Promise<void>
}

async function parrot(t: Test): Promise<Parrot> {
  const bird: Parrot = {
    url: '',
    manner: manners['nova']!,
    refuses: false,
    status: 400,
    breaks: false,
    tokens: 0,
    before: async () => {}
  }
  const server = createServer(async (request, response) => {
    const sent = await text(request)
    const isToken = request.url === '/v3/auth/tokens'
    if (isToken && !bird.refuses) {
      const endpoints = [{ interface: 'public', region: 'r', url: bird.url }]
      const catalog = ['compute', 'placement', 'image', 'network'].map(type => ({ type, endpoints }))
      const token = { expires_at: new Date(Date.now() + 3_600_000).toISOString(), catalog }
      const headers = { 'content-type': 'application/json', 'x-subject-token': `canary-token-${(bird.tokens += 1)}` }
      response.writeHead(201, headers).end(JSON.stringify({ token }))
      return
    }
    if (request.url === '/v2.1/' || request.url === '/') {
      const version = { id: 'v2.1', version: '2.94', min_version: '1.0', max_version: '2.94' }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ versions: [version] }))
      return
    }
    await bird.before(request)
    if (bird.breaks) {
      request.socket.destroy()
      return
    }
    const { type, body } = bird.manner(`${sent} ${JSON.stringify(request.headers)} ${Object.values(request.headers).join(' ')}`)
    response.writeHead(bird.status, { ...(type && { 'content-type': type }), 'x-openstack-request-id': 'req-1' }).end(body)
  })
  server.listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  bird.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return bird
}

const auths = (url: string): Auth[] => [
  { kind: 'password', url, user: { name: 'u', domain: { id: 'default' } }, password },
  { kind: 'applicationCredential', url, credential: { id: 'c' }, secret },
  { kind: 'token', url, token: 'canary-token-of-the-user' }
]

async function open(t: Test, auth: Auth): Promise<{ cloud: Cloud; reports: CallReport[] }> {
  const reports: CallReport[] = []
  const cloud = await connect({
    auth,
    retry: { ...readPolicy, repeats: 0 },
    breaker: { failures: 1e9, pauseMs: 1 },
    onCall: report => reports.push(report)
  })
  t.teardown(() => cloud.close())
  return { cloud, reports }
}

const calls = (cloud: Cloud): Array<() => Promise<unknown>> => [
  () => cloud.aggregates.list(),
  () => cloud.aggregates.addHost(1, 'h'),
  () => cloud.servers.create({ name: 'n', flavorId: '1', networks: 'none' }),
  () => cloud.servers.consoleOutput('s', 1),
  () => cloud.services.update('s', { status: 'enabled' }),
  () => cloud.resourceProviders.setTraits('p', { generation: 1, traits: [] }),
  () => cloud.images.named('i'),
  () => cloud.networks.list()
]

/** Everything that a log, a debugger or a careless `console.log` would show. */
const shown = (err: unknown): string =>
  [String(err), JSON.stringify(err), (err as Error).stack, inspect(err, { depth: null, showHidden: true, getters: true })].join(
    '\n'
  )

async function failing(t: Test, what: string, call: () => Promise<unknown>, code?: string): Promise<void> {
  const err = await call().then(
    () => undefined,
    (err: unknown) => err
  )
  t.ok(err instanceof OpenStackError, `${what}: fails`)
  if (code) t.equal((err as OpenStackError).code, code, what)
  t.notMatch(shown(err), canary, what)
}

for (const [name, manner] of Object.entries(manners)) {
  void t.test(`quoted by ${name}`, async t => {
    const bird = await parrot(t)
    bird.manner = manner
    for (const auth of auths(bird.url)) {
      const { cloud, reports } = await open(t, auth)
      for (const status of [302, 400, 401, 403, 404, 409, 500]) {
        bird.status = status
        for (const [at, call] of calls(cloud).entries()) await failing(t, `${auth.kind}, ${status}, call ${at}`, call)
      }
      bird.breaks = true
      for (const [at, call] of calls(cloud).entries()) await failing(t, `${auth.kind}, call ${at} breaks`, call, 'ConnectionLost')
      bird.breaks = false
      bird.refuses = true
      const refused = await open(t, auth)
      await failing(t, `${auth.kind}: no token`, () => refused.cloud.aggregates.list())
      bird.refuses = false
      t.ok(reports.length > 60, 'every attempt was told')
      t.notMatch([...reports, ...refused.reports].map(shown).join(), canary, 'and nothing of it is secret')
      t.notMatch(inspect([cloud, bird], { depth: 3 }), /canary-credential|quoted/)
    }
  })
}

void t.test('a token that was replaced is still a secret: it may be good for minutes', async t => {
  const bird = await parrot(t)
  bird.status = 401
  const [auth] = auths(bird.url)
  const { cloud } = await open(t, auth!)
  let release = (): void => {}
  const held = new Promise<void>(resolve => (release = resolve))
  let isHeld = (): void => {}
  const begun = new Promise<void>(resolve => (isHeld = resolve))
  bird.before = async request => {
    if (request.url?.startsWith('/v2.0')) {
      isHeld()
      await held
    }
  }
  bird.status = 403
  const slow = failing(t, 'answered after the renewal', () => cloud.networks.list(), 'Forbidden')
  await begun
  bird.status = 401
  await failing(t, 'refused, renewed, refused again', () => cloud.aggregates.list(), 'Unauthorized')
  t.equal(bird.tokens, 2)
  bird.status = 403
  release()
  await slow
})

void t.test('a configuration that cannot be read is not quoted', async t => {
  const cases: Array<() => unknown> = [
    () => fromCloudsYaml('clouds: { c: { auth: { password: "canary" : : } } }'),
    () => fromCloudsYaml('- canary'),
    () => fromCloudsYaml('clouds: { c: { profile: x, auth: { password: canary } } }'),
    () => fromCloudsYaml('clouds: { c: { auth: { password: canary } } }', 'd'),
    () => fromEnv({ OS_PASSWORD: 'canary' }),
    () => fromEnv({ OS_PASSWORD: 'canary', OS_AUTH_URL: 'http://x', OS_AUTH_TYPE: 'none' })
  ]
  for (const [at, read] of cases.entries()) await failing(t, `case ${at}`, async () => read(), 'BadConfig')
})
