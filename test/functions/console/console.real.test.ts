// The fleet page's server on the real API server, under exactly the role of knative/console.yaml.
import t from 'tap'
import handler from '../../../functions/console/handler.ts'
import { connect } from '../../../shared/kube/index.ts'
import { serve } from '../../../shared/runtime/serve.ts'
import { Eviction } from '../../../shared/schema/eviction.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import type { HostDetail, Update } from '../../../shared/view/types.ts'
import { condition } from '../../view/fixtures.ts'
import { startBundle } from '../../runtime/bundled.ts'
import { eventually } from '../../servers/eventually.ts'
import { asServiceAccount } from '../../servers/identity.ts'
import { kubernetes } from '../../servers/kubernetes.ts'
import { rightsOf } from '../../servers/rights.ts'

const api = await kubernetes(t)
const admin = await connect({ manager: 'test', kubeconfig: api.kubeconfig })
t.teardown(() => admin.close())
const host = `${api.namespace}-host`
await admin.create(Hypervisor, { metadata: { name: host, labels: { 'topology.kubernetes.io/zone': 'z1' } }, spec: {} })
t.teardown(() => admin.delete(Hypervisor, { name: host }))

const kubeconfig = await asServiceAccount(t, api, 'console.yaml', 'console')
const env = { KUBECONFIG: kubeconfig, TITLE: 'test', LOG_LEVEL: 'fatal', HOST: '127.0.0.1', PORT: '0' }
const served = await serve(handler, { env })
t.teardown(() => served.close())

/** The stream as a browser reads it; every message so far. */
async function follow(): Promise<{ updates: Update[]; stop: () => void }> {
  const stopping = new AbortController()
  const response = await fetch(`${served.url}/api/stream`, { signal: stopping.signal })
  const updates: Update[] = []
  const read = async (): Promise<void> => {
    let text = ''
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString()
      const messages = text.split('\n\n')
      text = messages.pop() ?? ''
      for (const message of messages) {
        const data = /^data: (.*)$/m.exec(message)?.[1]
        if (data !== undefined) updates.push(JSON.parse(data) as Update)
      }
    }
  }
  read().catch((err: Error) => stopping.signal.aborted || t.fail(err.message))
  return { updates, stop: () => stopping.abort() }
}

const hostPage = async () => (await (await fetch(`${served.url}/api/hosts/${host}`)).json()) as Partial<HostDetail>

const setReady = (status: 'True' | 'False', reason: string) =>
  admin.applyStatus(Hypervisor, {
    metadata: { name: host },
    status: { numInstances: 3, conditions: [condition('Ready', status, reason, 'as the test says')] }
  })

t.test('all at once, then only what changed', async t => {
  await eventually('the first list', async () => (await hostPage()).host)
  const { updates, stop } = await follow()
  t.teardown(stop)
  await eventually('the snapshot', async () => updates[0]?.whole)
  t.match(
    updates[0]?.hosts.find(({ name }) => name === host),
    { word: 'Discovered', zone: 'z1' }
  )
  await setReady('True', 'Ready')
  const told = await eventually('the change', async () =>
    updates.slice(1).find(({ hosts }) => hosts.some(({ name, word }) => name === host && word === 'Ready'))
  )
  t.notOk(told.whole)
  const ours = told.happenings.find(({ about }) => about === host) // other test files have hosts on this server too
  t.match(ours, { text: 'Discovered → Ready' })
})

t.test('a drain is seen on the host', async t => {
  const { updates, stop } = await follow()
  t.teardown(stop)
  const name = `${host}-drain`
  await admin.create(Eviction, { metadata: { name }, spec: { hypervisor: host, reason: 'test' } })
  t.teardown(() => admin.delete(Eviction, { name }))
  const progress = { total: 4, done: 1, running: 1, waiting: 2 }
  await admin.applyStatus(Eviction, { metadata: { name }, status: { phase: 'Draining', progress } })
  await eventually('the drain', async () =>
    updates.some(({ hosts }) => hosts.some(view => view.name === host && view.drain?.done === 1))
  )
  const detail = await hostPage()
  t.match(detail.host?.drain, { total: 4, done: 1, percent: 25 })
})

t.test('pages, and what is none', async t => {
  const page = await fetch(served.url)
  t.equal(page.status, 200)
  t.match(page.headers.get('content-security-policy'), /default-src 'none'/)
  t.match(await page.text(), /importmap/)
  const again = await fetch(served.url, { headers: { 'if-none-match': page.headers.get('etag') ?? '' } })
  t.equal(again.status, 304, 'a file that did not change does not travel again')
  for (const [path, status] of [
    ['/api/hosts/nobody', 404],
    ['/../../package.json', 404],
    ['/%ff', 400],
    ['/api/hosts/%ff', 400],
    ['/state.ts', 404],
    ['/api/networks', 200],
    ['/api/sim/actions', 200],
    ['/api/sim/fleet', 404] // in a cluster nothing is simulated, and the page only reads
  ] as const)
    t.equal((await fetch(`${served.url}${path}`)).status, status, path)
})

t.test('what the browser loads is small and comes from here alone', async t => {
  const { loadAssets } = await import('../../../functions/console/assets.ts')
  const assets = [...(await loadAssets()).values()]
  const bytes = assets.reduce((sum, { body }) => sum + body.length, 0)
  t.ok(bytes <= 200_000, `${bytes} bytes`)
  for (const { body, type } of assets)
    if (!type.startsWith('image/')) t.notMatch(body.toString(), /(?:src|href|import|fetch)\s*[=(]\s*["']https?:/)
})

t.test('the role is the smallest that works', async t => {
  const { unused, refused } = await rightsOf(api, 'console.yaml', 'console')
  t.strictSame(unused, [])
  t.strictSame(refused, [])
})

t.test('as it ships, the bundle brings the whole page along', async t => {
  const { url, stop } = await startBundle(t, 'functions/console/main.ts', { KUBECONFIG: kubeconfig })
  const get = async (path: string) => {
    const response = await fetch(url + path)
    return { status: response.status, type: response.headers.get('content-type'), body: await response.text() }
  }
  const page = await get('/')
  t.match(page, { status: 200, type: /text\/html/ })
  const named = [...page.body.matchAll(/(?:src|href)="(\/[^"]+)"|"(\/lib\/[^"]+)"/g)].map(
    ([, asset, library]) => asset ?? library ?? ''
  )
  t.ok(named.length > 5)
  for (const path of named) t.equal((await get(path)).status, 200, path)
  t.equal(await stop(), 0)
})
