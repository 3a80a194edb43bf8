// Long: API server and fleet are set up once for all of it. `drover` as a person runs it: a process, in a pipe or on a terminal, against a real API server.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import handler from '../../functions/dead-letters/handler.ts'
import { connect, Event } from '../../shared/kube/index.ts'
import { serve } from '../../shared/runtime/serve.ts'
import { Eviction } from '../../shared/schema/eviction.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { eventually } from '../servers/eventually.ts'
import { asServiceAccount } from '../servers/identity.ts'
import { ownKubernetes } from '../servers/kubernetes.ts'
import { condition } from '../view/fixtures.ts'
import { droverOnTerminal, drover as run } from './terminal.ts'

t.setTimeout(900_000)
const api = await ownKubernetes(t)
const admin = await connect({ manager: 'test', kubeconfig: api.kubeconfig, timeoutMs: 60_000 })
t.teardown(() => admin.close())
const KUBECONFIG = api.kubeconfig
const drover = (args: string[], env: Record<string, string> = { KUBECONFIG }) => run(args, env)

const labels = { 'topology.kubernetes.io/zone': 'z1', 'kubernetes.metal.cloud.sap/bb': 'bb1' }
for (const name of ['alpha', 'beta']) {
  await admin.create(Hypervisor, { metadata: { name, labels }, spec: { lifecycleEnabled: true } })
  await admin.patch(
    Hypervisor,
    { name },
    { status: { numInstances: 2, conditions: [condition('Ready', 'True', 'Ready', 'The host takes servers.')] } },
    { subresource: 'status' }
  )
}

t.test('get: the fleet in the words of the page, as text, wide and data', async t => {
  const { code, out } = await drover(['get'])
  t.equal(code, 0)
  t.match(out, /^HOST +ZONE +STATE +VMS\n/)
  t.match(out, /^alpha +z1 +Ready +2 +2 VMs$/m)
  t.notOk(out.includes('\u001B'), 'no colour in a pipe')
  t.match((await drover(['get', 'alpha', '-o', 'wide'])).out, /^alpha +z1 +Ready +2 +bb1 +0 % +healthy/m)
  const data = JSON.parse((await drover(['get', '--output', 'json'])).out)
  t.match(data, [{ name: 'alpha', word: 'Ready', vms: 2 }, { name: 'beta' }])
  t.match((await drover(['get', 'beta', '-o', 'yaml'])).out, /^- name: beta$/m)
})

t.test('describe: why, and since when', async t => {
  const { code, out } = await drover(['describe', 'alpha'])
  t.equal(code, 0)
  t.match(out, /^alpha is Ready since .+\. The host takes servers\.$/m)
  t.match(out, /Conditions\n.*\n +Ready +True/)
})

t.test('drain: asks for maintenance, follows it to its end, and comes back', async t => {
  const draining = drover(['drain', 'alpha', '--reason', 'new DIMM', '--watch'])
  await eventually('the wish', async () => (await admin.find(Hypervisor, 'alpha'))?.spec.maintenance === 'manual')
  t.equal((await admin.find(Hypervisor, 'alpha'))?.spec.maintenanceReason, 'new DIMM')
  const name = 'alpha-drain'
  await admin.create(Eviction, { metadata: { name }, spec: { hypervisor: 'alpha', reason: 'new DIMM' } })
  const play = (status: object) => admin.patch(Eviction, { name }, { status }, { subresource: 'status' })
  await play({ progress: { total: 2, done: 1, running: 1, waiting: 0 } })
  await play({ progress: { total: 2, done: 2, running: 0, waiting: 0 }, verdict: 'Succeeded' })
  const { code, out } = await draining
  t.equal(code, 0)
  t.match(out, /alpha is to be drained: new DIMM\n/)
  t.match(out, /\[#{24}\] 100 % Succeeded/)
  t.match(await drover(['drain', 'alpha']), { code: 0, out: /being drained already/ })
  t.match(await drover(['undrain', 'alpha']), { code: 0, out: /goes back into service/ })
  t.equal((await admin.find(Hypervisor, 'alpha'))?.spec.maintenance, '')
  t.match(await drover(['undrain', 'alpha']), { code: 0, out: /is in service/ })
})

t.test('drain: a VM that cannot move is named, and the code says so', async t => {
  const draining = drover(['drain', 'beta', '--watch'])
  await eventually('the wish', async () => (await admin.find(Hypervisor, 'beta'))?.spec.maintenance === 'manual')
  await admin.create(Eviction, { metadata: { name: 'beta-drain' }, spec: { hypervisor: 'beta', reason: 'x' } })
  const instances = [{ id: '1', name: 'web', state: 'Blocked', reason: 'NoValidHost', message: 'no host has room' }]
  const status = { progress: { total: 1, done: 0, failed: 1 }, instances, verdict: 'Failed' }
  await admin.patch(Eviction, { name: 'beta-drain' }, { status }, { subresource: 'status' })
  const { code, out } = await draining
  t.equal(code, 1)
  t.match(out, /1 of 1 VM cannot move: web: no host has room/)
})

t.test('drain --dry-run: the plan is shown, and leaves nothing behind', async t => {
  const planning = drover(['drain', 'beta', '--dry-run'])
  const plan = await eventually('the order', async () => {
    const { items } = await admin.list(Eviction, {})
    return items.find(({ spec }) => spec?.dryRun)
  })
  const instances = [{ id: '1', name: 'web', state: 'Waiting', destination: 'alpha' }]
  const { name } = plan.metadata
  await admin.patch(Eviction, { name }, { status: { instances, verdict: 'Planned' } }, { subresource: 'status' })
  const { code, out } = await planning
  t.equal(code, 0)
  t.match(out, /^web +Waiting +→ alpha$/m)
  t.equal(await admin.find(Eviction, name), undefined)
})

t.test('on a terminal there is colour, and a drain is one line that is written over', async t => {
  const { code, out } = await droverOnTerminal(['get'], { KUBECONFIG })
  t.equal(code, 0)
  t.ok(out.includes('\u001B[32mReady'), 'green')
  const { uid = '' } = (await admin.find(Eviction, 'alpha-drain'))?.metadata ?? {}
  await admin.delete(Eviction, { name: 'alpha-drain', uid })
  const draining = droverOnTerminal(['drain', 'alpha', '--reason', 'again', '--watch'], { KUBECONFIG })
  await eventually('the wish', async () => (await admin.find(Hypervisor, 'alpha'))?.spec.maintenance === 'manual')
  const name = 'alpha-again'
  await admin.create(Eviction, { metadata: { name }, spec: { hypervisor: 'alpha', reason: 'again' } })
  const play = (status: object) => admin.patch(Eviction, { name }, { status }, { subresource: 'status' })
  const eta = new Date(Date.now() + 600_000).toISOString()
  await play({ progress: { total: 4, done: 2, running: 1, waiting: 1 }, eta })
  await play({ progress: { total: 4, done: 4, running: 0, waiting: 0 }, verdict: 'Succeeded' })
  const ended = await draining
  t.equal(ended.code, 0)
  t.ok(ended.out.includes(`\r\u001B[K[${'#'.repeat(24)}] 100 % Succeeded`))
  t.match((await drover(['undrain', 'alpha', '-o', 'json'])).out, /"maintenance": ""/)
})

t.test('events: what was told of a host, once and as it comes', async t => {
  const about = { ...(await admin.find(Hypervisor, 'alpha')), apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor' }
  await admin.event(about, { type: 'Warning', reason: 'Test', action: 'Look', note: 'somebody looked at alpha' })
  t.match((await drover(['events'])).out, /^\S+ {2}alpha {2}somebody looked at alpha$/m)
  t.match(JSON.parse((await drover(['events', 'alpha', '-o', 'json'])).out), [{ about: 'alpha', tone: 'warn' }])
  t.match((await drover(['events', 'beta'])).out, /Nothing was told/)
  const following = run(['events', '--follow', '-o', 'json'], { KUBECONFIG }, undefined, out => out.includes('a second time'))
  await admin.event(about, { type: 'Normal', reason: 'Test', action: 'Look', note: 'and looked a second time' })
  const { code, out } = await following
  t.equal(code, 0, 'Ctrl-C is a good end')
  t.equal(
    out
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as { text: string })
      .filter(({ text }) => text.includes('a second time')).length,
    1
  )
})

t.test('deadletters: what no function could handle is listed, and sent again', async t => {
  t.match((await drover(['deadletters'])).out, /There are no dead letters/)
  const kubeconfig = await asServiceAccount(t, api, 'dead-letters.yaml', 'dead-letters')
  const served = await serve(handler, { env: { KUBECONFIG: kubeconfig, LOG_LEVEL: 'fatal', HOST: '127.0.0.1', PORT: '0' } })
  t.teardown(() => served.close())
  const headers = {
    'content-type': 'application/json',
    'ce-specversion': '1.0',
    'ce-id': '1',
    'ce-source': '/test',
    'ce-type': 'sap.cloud.kvm.hypervisor.changed.v1',
    'ce-subject': 'alpha',
    'ce-knativeerrorcode': '503',
    'ce-knativeerrordest': 'http://traits.drover.svc.cluster.local'
  }
  const send = (more: Record<string, string> = {}) =>
    fetch(served.url, { method: 'POST', headers: { ...headers, ...more }, body: '{"name":"alpha"}' })
  t.equal((await send()).status, 204)
  t.equal((await send()).status, 204, 'the same letter twice is one')
  t.equal((await send({ 'ce-id': '2', 'ce-type': 'dev.knative.apiserver.resource.add' })).status, 204)
  const list = JSON.parse((await drover(['deadletters', 'list', '-o', 'json'])).out) as Array<{ id: string; kept: boolean }>
  t.match(list, [
    { by: 'traits', code: '503', subject: 'alpha', kept: true },
    { by: 'traits', kept: false }
  ])
  const [first, second] = list.map(({ id }) => id)
  t.match(await drover(['deadletters', 'replay']), { code: 2, err: /name the letters, or --all/ })
  t.match(await drover(['deadletters', 'replay', 'dead-letter-x']), { code: 2, err: /there is no dead letter dead-letter-x/ })
  const heard: string[] = []
  const broker = createServer(
    (request, response) => void text(request).then(body => (heard.push(body), response.writeHead(202).end()))
  )
  await new Promise<void>(resolve => broker.listen(0, '127.0.0.1', resolve))
  t.teardown(() => broker.close())
  const url = `http://127.0.0.1:${(broker.address() as AddressInfo).port}/drover/default`
  const { code, out } = await drover(['deadletters', 'replay', '--all', '--broker', url])
  t.equal(code, 1, 'one of them was not kept whole')
  t.match(out, `${first}: sent again`)
  t.match(out, `${second}: what it carried was not kept`)
  t.match(
    heard.map(one => JSON.parse(one) as object),
    [{ id: '1', type: headers['ce-type'], subject: 'alpha', data: { name: 'alpha' } }]
  )
  t.notMatch(heard[0], /knativeerror/)
  const { items } = await admin.list(Event, { fieldSelector: 'reason=DeadLetter' })
  t.equal(items.length, 1, 'what was sent again is no dead letter any more')
  const gone = 'http://broker-ingress.knative-eventing.svc.cluster.local/drover/default'
  t.equal((await send({ 'ce-id': '3' })).status, 204)
  const third = JSON.parse((await drover(['deadletters', '-o', 'json'])).out).find(({ kept }: { kept: boolean }) => kept)
  t.match(await drover(['deadletters', 'replay', third.id, '--broker', gone]), {
    code: 2,
    err: /kubectl -n knative-eventing port-forward svc\/broker-ingress/
  })
})

t.test('doctor: what is there, what is not, and what to do', async t => {
  const { code, out } = await drover(['doctor'])
  t.equal(code, 1)
  t.match(out, /^ok +kinds +all 6 are installed/m)
  t.match(out, /^FAIL +broker +Knative Eventing is not installed\n +→ install Knative/m)
  t.match(out, /^FAIL +webhooks +ValidatingWebhookConfiguration drover-admission is missing\n +→ kubectl apply -k knative\//m)
  t.match(out, /^ok +your rights/m)
  const findings = JSON.parse((await drover(['doctor', '-o', 'json'])).out) as Array<{ tone: string; todo?: string }>
  t.ok(
    findings.every(({ tone, todo }) => (tone === 'bad' || tone === 'warn') === (todo !== undefined)),
    'each says what to do'
  )
  const kubeconfig = await asServiceAccount(t, api, 'console.yaml', 'console')
  t.match(
    (await drover(['doctor'], { KUBECONFIG: kubeconfig })).out,
    /^warn +your rights +you may not patch hypervisors: needed by drain/m
  )
})

t.test('completion: commands, options, choices and hosts', async t => {
  const complete = async (...words: string[]) => (await drover(['complete', '--', ...words])).out.trim().split('\n')
  t.strictSame(await complete('des'), ['describe'])
  t.strictSame(await complete('describe', 'al'), ['alpha'])
  t.strictSame(await complete('get', '-o', ''), ['text', 'wide', 'json', 'yaml'])
  t.ok((await complete('drain', '--')).includes('--dry-run'))
  t.strictSame(await complete('deadletters', ''), ['list', 'replay'])
  for (const shell of ['bash', 'zsh', 'fish']) t.match((await drover(['completion', shell])).out, /drover complete --/)
})

t.test('each error is a sentence that helps', async t => {
  t.match(await drover(['describe', 'alph']), { code: 2, err: /no host alph; did you mean alpha\?/ })
  t.match(await drover(['get', 'nosuch']), { code: 2, err: /no host nosuch/ })
  t.match(await drover(['get', '--kubeconfig', '/nonexistent']), { code: 2, err: /no usable kubeconfig.*--kubeconfig/ })
  const kubeconfig = await asServiceAccount(t, api, 'dead-letters.yaml', 'dead-letters')
  t.match(await drover(['get'], { KUBECONFIG: kubeconfig }), { code: 2, err: /forbidden.*ask for the right.*drover doctor/ })
  t.match(await drover(['describe', 'alfa']), { code: 2, err: /did you mean alpha\?/ })
  t.match(await drover(['sim'], { KUBECONFIG: '/nonexistent/kubeconfig' }), { code: 2, err: /no simulated fleet.*npm start/ })
  t.match(await drover(['gett']), { code: 1, err: /Did you mean get/ })
  const { out } = await drover(['--help'])
  for (const command of [
    'get',
    'describe',
    'drain',
    'undrain',
    'events',
    'deadletters',
    'validate',
    'render',
    'doctor',
    'sim',
    'completion'
  ])
    t.match(out, new RegExp(`^ +${command}`, 'm'))
})

t.test('a server that goes away is said so, at once or while somebody watches', async t => {
  const watching = run(['events', '--follow'], { KUBECONFIG }, undefined, (_out, err) => err.includes('trying again'))
  await eventually('a follower', async () => watching.started())
  await api.kill('kube-apiserver')
  t.match(await watching, { code: 0, err: /no answer from the API server.*trying again/ })
  t.match(await drover(['get']), { code: 2, err: /no answer from the API server.*is the cluster up/ })
})
