import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { CallInfo, Kube } from '../../shared/kube/index.ts'
import { ConfigMap, connect, KubeError } from '../../shared/kube/index.ts'
import { matchWhole } from '../assert/match-whole.ts'
import { folder, kubeconfig } from './connected.ts'
import type { Answer } from './scripted.ts'
import { json, refuse, scripted, silence } from './scripted.ts'

const map = { metadata: { name: 'a', namespace: 'n' } }
const reset: Answer = response => void response.destroy()
const later = (seconds: number): Answer => refuse(429, 'TooManyRequests', { 'retry-after': String(seconds) })
const busy = refuse(503, 'ServiceUnavailable')

const verbs: Record<string, (kube: Kube) => Promise<unknown>> = {
  find: kube => kube.find(ConfigMap, 'a', 'n'),
  list: kube => kube.list(ConfigMap),
  token: kube => kube.reviewToken('x'),
  create: kube => kube.create(ConfigMap, map),
  apply: kube => kube.apply(ConfigMap, map),
  patch: kube => kube.patch(ConfigMap, { name: 'a', namespace: 'n' }, {}),
  delete: kube => kube.delete(ConfigMap, { name: 'a', namespace: 'n' })
}
const fine = json(200, { metadata: { resourceVersion: '1' }, items: [], status: {} })

const cases: Array<[verbs: string[], answers: Answer[], then: string, pauses: number[]]> = [
  [['find', 'list', 'token'], [busy, busy, fine], 'OK', [100, 200]],
  [['find', 'list', 'token'], [reset, refuse(500, 'InternalError'), fine], 'OK', [100, 200]],
  [['find', 'list', 'token'], [busy, busy, busy], 'Unavailable', [100, 200]],
  [['find', 'list', 'token'], [refuse(403, 'Forbidden')], 'Forbidden', []],
  [['find', 'create', 'apply', 'patch', 'delete'], [later(1), later(2), fine], 'OK', [1000, 2000]],
  [['find', 'create', 'apply', 'patch', 'delete'], [later(30)], 'TooManyRequests', []],
  [['create', 'apply', 'patch', 'delete'], [busy], 'Unavailable', []],
  [['create', 'apply', 'patch', 'delete'], [reset], 'Unreachable', []]
]
for (const [names, answers, then, pauses] of cases) {
  for (const name of names) {
    t.test(`${name}: ${answers.length} answers, ${then}`, async t => {
      const seen = await scripted(t, answers)
      const outcome = await verbs[name]!(seen.kube).then(
        () => 'OK',
        (err: KubeError) => err.code
      )
      t.equal(outcome, then)
      t.equal(seen.asked.length, answers.length)
      t.strictSame(seen.pauses, pauses)
    })
  }
}

const refusals: Array<[answer: Answer, then: Partial<KubeError>]> = [
  [refuse(400, 'BadRequest'), { code: 'BadRequest', retryable: false }],
  [refuse(401, 'Unauthorized'), { code: 'Unauthorized', retryable: false }],
  [refuse(404, 'NotFound'), { code: 'NotFound', retryable: false }],
  [refuse(405, 'MethodNotAllowed'), { code: 'BadRequest', status: 405, retryable: false }],
  [refuse(409, 'Conflict'), { code: 'Conflict', retryable: true }],
  [refuse(409, 'AlreadyExists'), { code: 'AlreadyExists', retryable: false }],
  [refuse(409, 'Conflict', {}, { causes: [{ reason: 'FieldManagerConflict' }] }), { code: 'Conflict', retryable: false }],
  [refuse(410, 'Expired'), { code: 'Gone', retryable: false }],
  [refuse(413, 'RequestEntityTooLarge'), { code: 'TooLarge', retryable: false }],
  [refuse(422, 'Invalid'), { code: 'Invalid', retryable: false }],
  [refuse(500, 'InternalError'), { code: 'Internal', retryable: true }],
  [refuse(504, 'Timeout'), { code: 'Timeout', retryable: true }],
  [response => void response.writeHead(502).end('<html>bad gateway'), { code: 'Unavailable', message: '<html>bad gateway' }],
  [response => void response.writeHead(503).end('null'), { code: 'Unavailable', message: 'null' }],
  [response => void response.writeHead(507).end(), { code: 'Internal', message: 'the API server answered 507' }],
  [response => void response.writeHead(200).end('{"cut'), { code: 'Malformed', retryable: true }]
]
for (const [answer, then] of refusals) {
  t.test(`${then.code} ${then.status ?? ''} ${then.message ?? ''}`, async t => {
    const { kube } = await scripted(t, [answer])
    const error = await kube.create(ConfigMap, map).catch((err: unknown) => err)
    t.ok(error instanceof KubeError)
    t.match(error, then)
  })
}

t.test('nobody listens: a write is tried again too, and the cause is kept', async t => {
  const pauses: number[] = []
  const pace = { delay: async (ms: number) => void pauses.push(ms), random: () => 1 }
  const kube = await connect({ manager: 'm', kubeconfig: await kubeconfig(t, 'http://127.0.0.1:1', {}), pace })
  await t.rejects(kube.apply(ConfigMap, map), { code: 'Unreachable', retryable: true, cause: { code: 'ECONNREFUSED' } })
  t.strictSame(pauses, [100, 200])
})

t.test('the time limit holds for a server that does not answer, or stops in the middle', async t => {
  const half: Answer = response => void response.writeHead(200, { 'content-length': '100' }).write('{')
  for (const answer of [silence, half]) {
    const { kube, asked } = await scripted(t, [answer], { timeoutMs: 1000 }) // long enough for a busy machine to be asked at all
    await t.rejects(kube.find(ConfigMap, 'a', 'n'), { code: 'Timeout', retryable: true })
    t.equal(asked.length, 1)
  }
})

t.test('every exchange is measured', async t => {
  const calls: CallInfo[] = []
  const { kube } = await scripted(t, [busy, fine, refuse(422, 'Invalid')], { onCall: call => calls.push(call) })
  await kube.find(ConfigMap, 'a', 'n')
  await kube.apply(ConfigMap, map).catch(() => undefined)
  matchWhole(t, calls, [
    { verb: 'get', kind: 'ConfigMap', code: 'Unavailable', ms: Number },
    { verb: 'get', kind: 'ConfigMap', code: 'OK' },
    { verb: 'apply', kind: 'ConfigMap', code: 'Invalid' }
  ])
})

t.test('warnings of the server are logged', async t => {
  const warnings: object[] = []
  const warned = json(200, map, { warning: '299 - "old version"' })
  const { kube } = await scripted(t, [warned], { log: { warn: fields => void warnings.push(fields) } })
  await kube.find(ConfigMap, 'a', 'n')
  matchWhole(t, warnings, [{ kind: 'ConfigMap', warning: '299 - "old version"' }])
})

t.test('calls share a connection', async t => {
  const ports = new Set<number | undefined>()
  const answer: Answer = (response, request) => {
    ports.add(request.socket.remotePort)
    fine(response, request)
  }
  const { kube } = await scripted(
    t,
    Array.from({ length: 20 }, () => answer)
  )
  for (let call = 0; call < 20; call++) await kube.find(ConfigMap, 'a', 'n')
  t.equal(ports.size, 1)
})

t.test('after close: Aborted, also for what is under way', async t => {
  const asking = Promise.withResolvers<void>()
  const { kube } = await scripted(t, [() => asking.resolve()])
  const underWay = t.rejects(kube.find(ConfigMap, 'a', 'n'), { code: 'Aborted' })
  await asking.promise
  kube.close()
  await underWay
  await t.rejects(kube.find(ConfigMap, 'a', 'n'), { code: 'Aborted' })
})

t.test('a rotated token is read again when the old one is refused, once', async t => {
  const tokenFile = join(await folder(t), 'token')
  await writeFile(tokenFile, 'old')
  const tokens: Array<string | undefined> = []
  const check: Answer = (response, request) => {
    tokens.push(request.headers.authorization)
    const answer = request.headers.authorization === 'Bearer new' ? fine : refuse(401, 'Unauthorized')
    answer(response, request)
  }
  const user = { 'auth-provider': { name: 'tokenFile', config: { tokenFile } } }
  const { kube } = await scripted(t, [check, check, check, check], { user })
  await t.rejects(kube.list(ConfigMap), { code: 'Unauthorized' })
  await writeFile(tokenFile, 'new')
  await kube.list(ConfigMap)
  await kube.list(ConfigMap)
  t.strictSame(tokens, ['Bearer old', 'Bearer old', 'Bearer new', 'Bearer new'])
})

t.test('names are checked before anything is sent', async t => {
  const { kube, asked } = await scripted(t, [])
  await t.rejects(kube.find(ConfigMap, '', 'n'), { code: 'BadRequest' })
  await t.rejects(kube.find(ConfigMap, 'a'), { code: 'BadRequest', message: /without a namespace/ })
  await t.rejects(kube.apply(ConfigMap, {}), { code: 'BadRequest' })
  t.strictSame(asked, [])
})
