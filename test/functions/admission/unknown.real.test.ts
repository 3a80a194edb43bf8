// A19 through the real API server: what could not be read is a warning "not checked", never a refusal, even where objections are enforced;
// A14 alone refuses. Nothing here is about how long it takes: what is never answered, or never heard of again, tells enough.
import t from 'tap'
import { eventually } from '../../servers/eventually.ts'
import { ownKubernetes } from '../../servers/kubernetes.ts'
import { type Answer, request } from '../../servers/request.ts'
import { doubtfulApi } from './doubtful-api.ts'
import {
  create,
  evictionKind,
  evictions,
  hostKind,
  hosts,
  installWebhooks,
  machineKind,
  machines,
  merged,
  networkKind,
  networks,
  refusedBy,
  startWebhook,
  warnedBy,
  write
} from './webhook.ts'

t.setTimeout(240_000)
const api = await ownKubernetes(t)
await create(api, networks(api), { ...networkKind, metadata: { name: 'pods' }, spec: { podNetwork: true } })
await create(api, '/apis/storage.k8s.io/v1/storageclasses', { metadata: { name: 'fast' }, provisioner: 'example.org/none' })
await create(api, `/api/v1/namespaces/${api.namespace}/secrets`, { metadata: { name: 'init' }, stringData: { userdata: 'x' } })
for (const name of ['h1', 'h2']) {
  await create(api, hosts, { ...hostKind, metadata: { name, labels: { 'topology.kubernetes.io/zone': 'z' } }, spec: {} })
  const full = { status: { capacity: { cpu: '4', memory: '4Gi' }, allocation: { cpu: '4', memory: '4Gi' } } }
  await request(api, 'PATCH', `${hosts}/${name}/status`, full, merged)
}
await create(api, evictions, { ...evictionKind, metadata: { name: 'running' }, spec: { hypervisor: 'h1', reason: 'test' } })

const watches = /\/(networkconfigurations|storageclasses|hypervisors|evictions)\?/
const between = await doubtfulApi(t, api)

const machine = (spec: object) =>
  write(api, 'POST', machines(api), { ...machineKind, metadata: { name: 'm' }, spec: { template: 'small', ...spec } })
const twoCards = () =>
  machine({
    networks: [
      { name: 'a', networkName: 'pods' },
      { name: 'b', networkName: 'pods' }
    ],
    disks: [{ name: 'root', storageClass: 'fast' }]
  })
const drain = () => write(api, 'PATCH', `${hosts}/h1`, { spec: { maintenance: 'auto' } }, merged)
const evict = () =>
  write(api, 'POST', evictions, { ...evictionKind, metadata: { name: 'new' }, spec: { hypervisor: 'h1', reason: 'r' } })
const words = ({ headers }: Answer<unknown>): string => [headers['warning'] ?? []].flat().join(' ')

// The rights of the function are given, and its token made, before the first word is forbidden.
const webhook = await startWebhook(t, { ...api, server: between.server }, { ENFORCE: 'true', STALE_AFTER: '500ms' }, () =>
  between.forbid(watches)
)
t.teardown(() => webhook.close())
await installWebhooks(api, webhook.tlsUrl)

const nothingIsKnown = async (): Promise<void> => {
  // each cache grows stale by itself
  await eventually('networks and storage classes to be unknown', async () => {
    const answer = await twoCards()
    const said = words(answer)
    // A12 is not judged by what is not known
    return (
      answer.status === 201 &&
      said.includes('the NetworkConfiguration pods was not checked') &&
      said.includes('the StorageClass fast was not checked')
    )
  })
  const drained = await eventually('the hosts to be unknown', async () => {
    const answer = await drain()
    return answer.status === 200 && answer
  })
  t.match(words(drained), /capacity and budgets were not checked: the other hosts are not known/)
  const evicted = await eventually('the Evictions to be unknown', async () => {
    const answer = await evict()
    return answer.status === 201 && answer
  })
  t.match(words(evicted), /other Evictions of the host were not checked/)
}
const allIsKnown = async (): Promise<void> => {
  const rules = [
    [twoCards, 'A12'],
    [drain, 'HV-12'],
    [evict, 'HV-13']
  ] as const
  for (const [ask, id] of rules) {
    const refused = await eventually(`${id} to be judged`, async () => {
      const answer = await ask()
      return answer.status >= 400 && answer
    })
    t.strictSame(refusedBy(refused), [id])
  }
}

t.test('A19: ready with caches that may not be read; what they would tell is said to be not checked', async () => {
  await nothingIsKnown()
})
t.test('A19: as soon as they may, all is judged', async () => {
  between.forbid(undefined)
  await allIsKnown()
})
t.test('A19: what was known once is not known for ever', async () => {
  between.forbid(watches)
  await nothingIsKnown()
  between.forbid(undefined)
  await allIsKnown()
})

const bySecret = { cloudInit: { secretRef: { name: 'init' } } }
const cloned = { disks: [{ name: 'root', source: { pvc: { name: 'golden', namespace: 'images' } } }] }
t.test('A19: a look-up that never ends is given up: a warning for a Secret, a refusal for a permission (A14)', async t => {
  between.hold(/\/secrets\/init|subjectaccessreviews/)
  const secret = await machine(bySecret)
  t.equal(secret.status, 201)
  t.match(words(secret), /the Secret init was not checked/)
  const foreign = await machine(cloned)
  t.equal(foreign.status, 403)
  t.strictSame(refusedBy(foreign), ['A14'])
  const both = await machine({ ...bySecret, ...cloned })
  t.strictSame(refusedBy(both), ['A14'], 'one budget for both')
  between.hold(undefined)
  t.strictSame(
    warnedBy(
      await eventually(
        'the Secret to be looked up',
        async () => warnedBy(await machine(bySecret)).length === 0 && (await machine(bySecret))
      )
    ),
    []
  )
  t.equal((await machine(cloned)).status, 201, 'this one may')
})

t.test('A19: a look-up that is refused is the same', async t => {
  between.forbid(/\/secrets\/init|subjectaccessreviews/)
  t.match(words(await machine(bySecret)), /the Secret init was not checked/)
  t.strictSame(refusedBy(await machine(cloned)), ['A14'])
  between.forbid(undefined)
})
