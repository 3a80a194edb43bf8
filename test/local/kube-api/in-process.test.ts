// The embedded API asked in its own process, as the functions and agents of `npm start` ask it: the client sees what it sees over a socket.
import t, { type Test } from 'tap'
import { ConfigMap, connect, KubeError, type Kube, type Seen } from '../../../shared/kube/index.ts'
import { inProcessServers } from '../../../shared/kube/in-process.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { embedded, type Embedded } from './embedded.ts'

const namespace = 'default'
const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'nobody', namespace } }

async function open(t: Test, how: 'socket' | 'in process'): Promise<{ api: Embedded; kube: Kube }> {
  const api = await embedded(t, { objects: [account] })
  if (how === 'in process') inProcessServers.set(api.server, api.kube.inProcess)
  t.teardown(() => inProcessServers.delete(api.server))
  return { api, kube: await connected(t, api.kubeconfig) }
}

async function connected(t: Test, kubeconfig: string): Promise<Kube> {
  const kube = await connect({ manager: 'test', kubeconfig })
  t.teardown(() => kube.close())
  return kube
}

const map = (name: string, data: Record<string, string>, more: object = {}) => ({ metadata: { name, namespace, ...more }, data })
const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'done',
    (err: unknown) => (err instanceof KubeError ? `${err.code}: ${err.message}` : Promise.reject(err as Error))
  )

/** What a client gets to see, without what differs from server to server. */
async function story(t: Test, how: 'socket' | 'in process'): Promise<unknown[]> {
  const { api, kube } = await open(t, how)
  const seen: unknown[] = []
  const keep = (object: ConfigMap | undefined): void =>
    void seen.push(object && [object.kind, object.metadata?.name, object.data])
  keep(await kube.find(ConfigMap, 'a', namespace))
  keep(await kube.create(ConfigMap, map('a', { x: '1', umlaut: 'ä' })))
  seen.push(await codeOf(kube.create(ConfigMap, map('a', {}))))
  keep(await kube.apply(ConfigMap, map('a', { y: '2' })))
  seen.push(await codeOf(kube.apply(ConfigMap, map('a', { x: '2' }), { force: false })))
  keep(await kube.patch(ConfigMap, { name: 'a', namespace }, { data: { x: '3' } }))
  keep(await kube.find(ConfigMap, 'a', namespace))
  seen.push((await kube.list(ConfigMap, { namespace })).items.map(({ metadata }) => metadata?.name))
  seen.push(await codeOf(kube.patch(ConfigMap, { name: 'gone', namespace }, { data: {} })))
  seen.push(await codeOf(kube.delete(ConfigMap, { name: 'a', namespace, uid: 'another' })).then(text => text.slice(0, 8)))
  seen.push(await kube.delete(ConfigMap, { name: 'a', namespace }), await kube.delete(ConfigMap, { name: 'a', namespace }))
  await kube.health()
  const file = `${api.folder}/nobody`
  await api.kube.writeKubeconfig(file, { namespace, name: 'nobody' })
  const nobody = await connected(t, file)
  seen.push(await codeOf(nobody.list(ConfigMap, { namespace })))
  seen.push(await codeOf(nobody.watch(ConfigMap, { namespace, signal: AbortSignal.timeout(10_000) }).next()))
  const unknown = { group: 'nowhere.example', version: 'v1', kind: 'Nothing', plural: 'nothings', namespaced: false }
  seen.push(await codeOf(kube.list(unknown)))
  return seen
}

t.test('a client in the same process is told the same', async t => {
  t.strictSame(await story(t, 'in process'), await story(t, 'socket'))
})

const next = async (watch: AsyncGenerator<Seen<ConfigMap>>): Promise<Seen<ConfigMap>> => {
  const { value, done } = await watch.next()
  if (done) throw new Error('the watch has ended')
  return value
}

t.test('a watch tells everything in order, and all watchers share what they are told', async t => {
  const { kube } = await open(t, 'in process')
  const { signal } = new AbortController()
  await kube.create(ConfigMap, map('before', { x: '1' }))
  const watches = [1, 2].map(() => kube.watch(ConfigMap, { namespace, signal }))
  for (const watch of watches) matchWhole(t, await next(watch), { type: 'snapshot', items: [{ metadata: { name: 'before' } }] })
  const told = watches.map(watch => next(watch))
  await kube.create(ConfigMap, map('new', { x: '1' }, { labels: { a: 'b' } }))
  const [one, two] = await Promise.all(told)
  t.match(one, { type: 'changed', object: { kind: 'ConfigMap', metadata: { name: 'new' }, data: { x: '1' } } })
  if (one?.type !== 'changed' || two?.type !== 'changed') throw new Error('nothing was told')
  t.equal(one.object, two.object)
  t.throws(
    () => Object.assign(one.object.metadata?.labels ?? {}, { a: 'c' }),
    TypeError,
    'and nobody can change it for the others'
  )
  await kube.apply(ConfigMap, map('new', { y: '2' }))
  await kube.delete(ConfigMap, { name: 'new', namespace })
  for (const watch of watches) {
    t.match(await next(watch), { type: 'changed', object: { data: { x: '1', y: '2' } } })
    t.match(await next(watch), { type: 'deleted', object: { metadata: { name: 'new' } } })
  }
})

t.test('a watch ends with its signal, with its connection, and when nobody asks any more', async t => {
  const { api, kube } = await open(t, 'in process')
  const stop = new AbortController()
  const watch = kube.watch(ConfigMap, { namespace, signal: stop.signal })
  await next(watch)
  const ended = watch.next()
  stop.abort()
  t.match(await ended, { done: true })

  const other = await connected(t, api.kubeconfig)
  const lasting = other.watch(ConfigMap, { namespace, signal: new AbortController().signal })
  await next(lasting)
  const closed = lasting.next()
  other.close()
  t.match(await closed, { done: true })

  const left = kube.watch(ConfigMap, { namespace, signal: new AbortController().signal })
  await next(left)
  const last = left.next()
  await kube.create(ConfigMap, map('one', {}))
  await last
  t.match(await left.return(undefined), { done: true })
  t.equal(await codeOf(kube.apply(ConfigMap, map('one', { still: 'served' }))), 'done')
})

t.test('who falls too far behind is let go, and begins anew with everything', async t => {
  const { kube } = await open(t, 'in process')
  const pause = new AbortController()
  const watch = kube.watch(ConfigMap, { namespace, signal: pause.signal })
  await next(watch)
  const first = next(watch)
  const write = (n: number) => kube.apply(ConfigMap, map('big', { text: String(n).padEnd(500_000, 'x') }))
  for (let n = 0; n < 160; n++) await write(n) // 80 MB, of which nobody takes any but the first
  t.match(await first, { type: 'changed' })
  for (;;) {
    const seen = await next(watch)
    if (seen.type !== 'snapshot') continue
    matchWhole(t, seen.items, [{ data: { text: /^159x/ } }])
    break
  }
  pause.abort()
})
