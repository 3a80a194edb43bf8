import t, { type Test } from 'tap'
import { ConfigMap, type ConnectOptions, type Kube } from '../../shared/kube/index.ts'
import { keepList, type KeptList } from '../../shared/kube/kept-list.ts'
import { ownKubernetes } from '../servers/kubernetes.ts'
import { connected, until } from './connected.ts'
import { relay } from './relay.ts'

const api = await ownKubernetes(t)
const { namespace } = api
const admin = await connected(t, api)
const pace = { delay: () => new Promise<void>(resolve => setTimeout(resolve, 20)), random: Math.random }

interface Kept {
  list: KeptList<ConfigMap>
  /** Names and steps, sorted. */
  told: () => Promise<string[]>
  /** Lists of everything; those that only ask for the version do not count. */
  lists: () => number
}

/** Listed until the watch follows. */
async function keptBy(t: Test, set: string, options: Partial<ConnectOptions> & { server?: string } = {}): Promise<Kept> {
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const kube = await connected(t, api, { pace, ...options })
  let lists = 0
  const counted: Pick<Kube, 'list' | 'watch'> = {
    watch: (kind, options) => kube.watch(kind, options),
    list: (kind, options) => ((lists += options?.fieldSelector === undefined ? 1 : 0), kube.list(kind, options))
  }
  const trim = ({ metadata, data }: ConfigMap): ConfigMap => ({ metadata: { name: metadata?.name ?? '' }, ...(data && { data }) })
  const list = keepList(counted, ConfigMap, { namespace, labelSelector: `set=${set}`, signal: stop.signal, trim })
  const told = async () => (await list.all()).map(({ metadata, data }) => `${metadata?.name} ${data?.['step']}`).sort()
  return { list, told, lists: () => lists }
}

/** The watch is behind the list that is answered meanwhile. */
const untilKept = ({ told, lists }: Kept): Promise<void> =>
  until(async () => {
    const before = lists()
    await told()
    return lists() === before
  })

const write = (set: string, name: string, step: string) =>
  admin.apply(ConfigMap, { metadata: { name, namespace, labels: { set } }, data: { step } })

t.test('what was written before it is asked is told, without a list of everything', async t => {
  await write('a', 'a-1', '1')
  const kept = await keptBy(t, 'a')
  t.strictSame(await kept.told(), ['a-1 1'])
  await untilKept(kept)
  const before = kept.lists()
  for (let step = 2; step < 30; step++) {
    await write('a', 'a-1', String(step))
    t.strictSame(await kept.told(), [`a-1 ${step}`])
  }
  await write('a', 'a-2', '1')
  t.strictSame(await kept.told(), ['a-1 29', 'a-2 1'])
  await admin.delete(ConfigMap, { name: 'a-1', namespace })
  t.strictSame(await kept.told(), ['a-2 1'])
  await write('elsewhere', 'b-1', '1')
  t.strictSame(await kept.told(), ['a-2 1'], 'what is not asked for moves the version, too')
  t.equal(kept.lists(), before)
  t.strictSame(
    (await kept.list.all()).map(({ metadata }) => metadata),
    [{ name: 'a-2' }],
    'only what is wanted is kept'
  )
})

t.test('while nothing follows it is listed, and an outage is told', async t => {
  await write('c', 'c-1', '1')
  const net = await relay(t, api.server)
  const kept = await keptBy(t, 'c', { server: net.server, timeoutMs: 2000 })
  await untilKept(kept)
  net.cut()
  await t.rejects(kept.told(), { code: 'Unreachable' })
  await write('c', 'c-1', '2')
  net.restore()
  t.strictSame(await kept.told(), ['c-1 2'])
  await untilKept(kept)
  t.strictSame(await kept.told(), ['c-1 2'])
})
