import { isDeepStrictEqual } from 'node:util'
import type { Test } from 'tap'
import t from 'tap'
import type { Kube } from '../../shared/kube/index.ts'
import { ConfigMap } from '../../shared/kube/index.ts'
import { ownKubernetes } from '../servers/kubernetes.ts'
import { connected, until } from './connected.ts'
import { relay } from './relay.ts'

const api = await ownKubernetes(t)
const admin = await connected(t, api)
const pace = { delay: () => new Promise<void>(resolve => setTimeout(resolve, 20)), random: Math.random }

/** One word for a write and for what a watch tells of it. */
const word = (verb: 'changed' | 'deleted', { metadata }: ConfigMap): string =>
  `${verb} ${metadata!.name} ${metadata!.resourceVersion}`

/** A watch that writes down what it is told. */
function follow(t: Test, kube: Kube, prefix: string) {
  const stop = new AbortController()
  const told: string[] = []
  const here = new Map<string, string>()
  const notes = { told, here, snapshots: 0 }
  const keep = (object: ConfigMap) => here.set(object.metadata!.name!, object.metadata!.resourceVersion!)
  const ended = (async () => {
    for await (const seen of kube.watch(ConfigMap, {
      namespace: api.namespace,
      labelSelector: `set=${prefix}`,
      signal: stop.signal
    })) {
      if (seen.type === 'snapshot') {
        notes.snapshots++
        here.clear()
        seen.items.forEach(keep)
        continue
      }
      told.push(word(seen.type, seen.object))
      if (seen.type === 'changed') keep(seen.object)
      else here.delete(seen.object.metadata!.name!)
    }
  })()
  t.teardown(async () => {
    stop.abort()
    await ended
  })
  return notes
}

/** Creates objects, changes each, and deletes every third: the words that a watch owes for it. A deletion has a version that only the watch tells. */
async function write(set: string, from: number, count: number): Promise<{ changed: string[]; deleted: string[] }> {
  const changed: string[] = []
  const deleted: string[] = []
  for (let index = from; index < from + count; index++) {
    const metadata = { name: `${set}-${index}`, namespace: api.namespace, labels: { set } }
    changed.push(word('changed', await admin.apply(ConfigMap, { metadata, data: { step: '1' } })))
    changed.push(word('changed', await admin.apply(ConfigMap, { metadata, data: { step: '2' } })))
    if (index % 3 > 0) continue
    await admin.delete(ConfigMap, metadata)
    deleted.push(`deleted ${metadata.name}`)
  }
  return { changed, deleted }
}

const withoutVersion = (told: string): string => told.replace(/ \d+$/, '')
const only = (verb: string, told: string[]): string[] => told.filter(entry => entry.startsWith(verb))

async function present(set: string): Promise<Map<string, string>> {
  const { items } = await admin.list(ConfigMap, { namespace: api.namespace, labelSelector: `set=${set}` })
  return new Map(items.map(({ metadata }) => [metadata!.name!, metadata!.resourceVersion!]))
}

t.test('every change is told once, in order', async t => {
  await write('quiet', 0, 4)
  const notes = follow(t, admin, 'quiet')
  await until(() => notes.snapshots === 1)
  t.strictSame(notes.here, await present('quiet'), 'the snapshot is what was there')
  const { changed, deleted } = await write('quiet', 4, 20)
  await until(() => notes.told.length >= changed.length + deleted.length)
  t.strictSame(only('changed', notes.told), changed)
  t.strictSame(only('deleted', notes.told).map(withoutVersion), deleted)
  t.strictSame(notes.here, await present('quiet'))
})

t.test('a broken connection is taken up where it broke: nothing lost, nothing twice', async t => {
  const network = await relay(t, api.server)
  const notes = follow(t, await connected(t, api, { server: network.server, pace }), 'cut')
  await until(() => notes.snapshots === 1)
  const words = { changed: [] as string[], deleted: [] as string[] }
  for (let round = 0; round < 5; round++) {
    const writing = write('cut', round * 20, 20)
    await until(() => notes.told.length > round * 30)
    network.cut()
    const { changed, deleted } = await writing
    words.changed.push(...changed)
    words.deleted.push(...deleted)
    network.restore()
    await until(() => notes.told.length >= words.changed.length + words.deleted.length)
  }
  t.strictSame(only('changed', notes.told), words.changed)
  t.strictSame(only('deleted', notes.told).map(withoutVersion), words.deleted)
  t.equal(notes.snapshots, 1, 'without a new snapshot')
})

t.test('a connection that is silently dead is noticed', async t => {
  const network = await relay(t, api.server)
  const notes = follow(t, await connected(t, api, { server: network.server, pace, idleMs: 500 }), 'frozen')
  await until(() => notes.snapshots === 1)
  const before = await write('frozen', 0, 5)
  await until(() => notes.told.length === before.changed.length + before.deleted.length)
  network.freeze()
  const after = await write('frozen', 5, 5)
  const all = [...before.changed, ...after.changed]
  await until(() => only('changed', notes.told).length === all.length)
  t.strictSame(only('changed', notes.told), all)
})

t.test('the API server is killed and comes back: nothing lost, nothing invented', async t => {
  const kube = await connected(t, api, { pace })
  const notes = follow(t, kube, 'killed')
  await until(() => notes.snapshots === 1)
  const before = await write('killed', 0, 30)
  await until(() => notes.told.length === before.changed.length + before.deleted.length)
  await api.kill('kube-apiserver')
  await t.rejects(kube.health(), { code: 'Unreachable' })
  await api.up()
  const meanwhile = await write('killed', 30, 30) // the watch may be back, or not yet
  const now = async () => isDeepStrictEqual(await present('killed'), notes.here)
  await until(now)
  const after = await write('killed', 60, 30)
  const marker = after.changed.at(-1)!
  await until(() => notes.told.includes(marker))
  await until(now)

  t.strictSame(only('changed', notes.told).slice(0, before.changed.length), before.changed, 'before: each once')
  t.strictSame(only('changed', notes.told).slice(-after.changed.length), after.changed, 'after: each once')
  const written = new Set([...before.changed, ...meanwhile.changed, ...after.changed])
  const told = only('changed', notes.told)
  t.equal(new Set(told).size, told.length, 'none twice')
  t.strictSame(
    told.filter(entry => !written.has(entry)),
    [],
    'none invented'
  )
  t.comment(`${told.length} of ${written.size} changes told one by one, ${notes.snapshots} snapshots`)
})

t.test('what the server forgot leads to a new snapshot, in which the deleted is missing', async t => {
  const network = await relay(t, api.server)
  const notes = follow(t, await connected(t, api, { server: network.server, pace }), 'forgotten')
  await until(() => notes.snapshots === 1)
  const before = await write('forgotten', 0, 6)
  await until(() => notes.told.length === before.changed.length + before.deleted.length)
  network.cut()
  await admin.delete(ConfigMap, { name: 'forgotten-1', namespace: api.namespace })
  await write('forgotten', 6, 6)
  await api.kill('kube-apiserver')
  await api.up() // a new server has no history
  network.restore()
  await until(() => notes.snapshots === 2)
  t.notOk(notes.here.has('forgotten-1'))
  t.strictSame(notes.here, await present('forgotten'))
  t.equal(only('changed', notes.told).length, before.changed.length)
})
