// The embedded API as an overloaded or restarted server is, and what the client makes of it.
import t, { type Test } from 'tap'
import { ConfigMap, connect, KubeError, type Kube } from '../../../shared/kube/index.ts'
import { inProcessServers } from '../../../shared/kube/in-process.ts'
import type { Faults } from '../../../shared/local/kube-api/faults.ts'
import { eventually } from '../../servers/eventually.ts'
import { embedded } from './embedded.ts'

const namespace = 'default'
const map = (name: string) => ({ metadata: { name, namespace }, data: {} })
const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'done',
    (err: unknown) => (err instanceof KubeError ? err.code : Promise.reject(err as Error))
  )

async function open(t: Test, how: string): Promise<{ kube: Kube; faults: Faults }> {
  const api = await embedded(t)
  if (how === 'in process') inProcessServers.set(api.server, api.kube.inProcess)
  t.teardown(() => inProcessServers.delete(api.server))
  const kube = await connect({ manager: 'test', kubeconfig: api.kubeconfig, timeoutMs: 500 })
  t.teardown(() => kube.close())
  await eventually('the first answer, however busy the machine is', () => codeOf(kube.health()).then(code => code === 'done'))
  return { kube, faults: api.kube.faults }
}

for (const how of ['socket', 'in process']) {
  t.test(`too many requests: asked again after its time, ${how}`, async t => {
    const { kube, faults } = await open(t, how)
    faults.add({ verb: 'create', times: 1, effect: { tooManySeconds: 0 } })
    t.equal((await kube.create(ConfigMap, map('a'))).metadata?.name, 'a')
    faults.add({ resource: 'configmaps', effect: { tooManySeconds: 60 } })
    t.equal(await codeOf(kube.find(ConfigMap, 'a', namespace)), 'TooManyRequests', 'a minute is not waited for')
  })

  t.test(`no answer in time: read again, written once, ${how}`, async t => {
    const { kube, faults } = await open(t, how)
    faults.add({ verb: 'create', times: 1, effect: { timesOut: true } })
    t.equal(await codeOf(kube.create(ConfigMap, map('late'))), 'Timeout')
    t.equal((await kube.find(ConfigMap, 'late', namespace))?.metadata?.name, 'late', 'it was done, and nobody was told')
    faults.add({ verb: 'create', times: 2, effect: { losesAnswer: true } })
    t.equal(await codeOf(kube.create(ConfigMap, map('a'))), 'Unreachable')
    t.equal(await codeOf(kube.create(ConfigMap, map('a'))), 'Unreachable', 'a refusal is lost as well')
    faults.add({ verb: 'get', times: 1, effect: { losesAnswer: true } })
    t.equal((await kube.find(ConfigMap, 'a', namespace))?.metadata?.name, 'a', 'it was done, and is read in the second try')
    const lift = faults.add({ verb: 'get', effect: { hangs: true } })
    t.equal(await codeOf(kube.find(ConfigMap, 'a', namespace)), 'Timeout')
    lift()
    t.equal((await kube.find(ConfigMap, 'a', namespace))?.metadata?.name, 'a')
  })

  t.test(`watches that end and lag: every change comes, once and in order, ${how}`, async t => {
    const { kube, faults } = await open(t, how)
    Object.assign(faults.watches, { lastMs: 50, lagMs: 30 })
    const stop = new AbortController()
    const seen: string[] = []
    const first = Promise.withResolvers<void>()
    const watching = (async () => {
      for await (const one of kube.watch(ConfigMap, { namespace, signal: stop.signal }))
        if (one.type === 'snapshot') first.resolve()
        else if (one.type === 'changed') seen.push(one.object.metadata?.name ?? '')
    })()
    await first.promise
    const names = Array.from({ length: 40 }, (_, at) => `n${at}`)
    for (const name of names) await kube.create(ConfigMap, map(name))
    await eventually('the last', async () => seen.includes('n39'))
    t.strictSame(seen, names)
    stop.abort()
    await watching.catch(() => {})
  })
}
