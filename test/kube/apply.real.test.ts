// Long: the API server and two clients of it are set up once for all of it. Server-side apply by our client: who owns what, and what is not sent.
import t from 'tap'
import type { Kind, Kube, KubeObject } from '../../shared/kube/index.ts'
import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  conditionSet,
  Deployment,
  findCondition,
  KubeError,
  Node,
  Role
} from '../../shared/kube/index.ts'
import { kubernetes } from '../servers/kubernetes.ts'
import { connected, until } from './connected.ts'

const api = await kubernetes(t)
const { namespace } = api
const calls: string[] = []
const kube = await connected(t, api, { onCall: ({ verb, code }) => calls.push(`${verb} ${code}`) })
const other = await connected(t, api, { manager: 'somebody-else' })

const map = (name: string, data: Record<string, string>): ConfigMap => ({ metadata: { name, namespace }, data })
const read = async (by: Kube, name: string): Promise<ConfigMap> => (await by.find(ConfigMap, name, namespace))!
const sent = async (act: () => Promise<unknown>): Promise<string[]> => {
  calls.length = 0
  await act()
  return [...calls]
}

t.test('apply creates, changes, and removes what is left out', async t => {
  const made = await kube.apply(ConfigMap, map('own', { a: '1', b: '2' }))
  t.match(made, { kind: 'ConfigMap', apiVersion: 'v1', data: { a: '1', b: '2' } })
  const changed = await kube.apply(ConfigMap, map('own', { a: '3' }))
  t.strictSame(changed.data, { a: '3' })
})

t.test('HV-7: nothing is sent when nothing changed', async t => {
  await kube.apply(ConfigMap, map('same', { a: '1' }))
  const live = await read(kube, 'same')
  t.strictSame(await sent(() => kube.apply(ConfigMap, map('same', { a: '1' }), { live })), [])
  t.strictSame(await sent(() => kube.apply(ConfigMap, map('same', { a: '2' }), { live })), ['apply OK'])
  const now = await read(kube, 'same')
  t.strictSame(
    await sent(() => kube.apply(ConfigMap, { metadata: { name: 'same', namespace } }, { live: now })),
    ['apply OK'],
    'a field left out'
  )
  t.equal((await read(kube, 'same')).data, undefined)
})

t.test('HV-7: a value that somebody else set is still made ours, once', async t => {
  await other.apply(ConfigMap, map('agreed', { a: '1' }))
  const live = await read(kube, 'agreed')
  t.strictSame(await sent(() => kube.apply(ConfigMap, map('agreed', { a: '1' }), { live })), ['apply OK'])
  const now = await read(kube, 'agreed')
  t.strictSame(await sent(() => kube.apply(ConfigMap, map('agreed', { a: '1' }), { live: now })), [])
  await other.apply(ConfigMap, map('agreed', {}))
  t.strictSame((await read(kube, 'agreed')).data, { a: '1' }, 'and stays when the other leaves it')
})

t.test('HV-5: a field of an earlier non-apply writer goes when we leave it out', async t => {
  await other.create(ConfigMap, map('old', { ours: '1', theirs: '2' }))
  await kube.apply(ConfigMap, map('old', { ours: '1' }), { live: await read(kube, 'old') })
  const owners = (await read(kube, 'old')).metadata!.managedFields!.map(({ manager, operation, fieldsV1 }) => ({
    manager,
    operation,
    fieldsV1
  }))
  t.strictSame(owners, [
    { manager: 'drover-test', operation: 'Apply', fieldsV1: { 'f:data': { 'f:ours': {} } } },
    { manager: 'somebody-else', operation: 'Update', fieldsV1: { 'f:data': { '.': {}, 'f:theirs': {} } } }
  ])
  await kube.apply(ConfigMap, map('old', {}), { live: await read(kube, 'old') })
  t.strictSame((await read(kube, 'old')).data, { theirs: '2' })
})

t.test('HV-5: so it does when the earlier writer had nothing else', async t => {
  await other.create(ConfigMap, map('older', { ours: '1' }))
  await kube.apply(ConfigMap, map('older', { ours: '1' }), { live: await read(kube, 'older') })
  t.strictSame(
    (await read(kube, 'older')).metadata!.managedFields!.map(entry => entry.manager),
    ['drover-test']
  )
  await kube.apply(ConfigMap, map('older', {}), { live: await read(kube, 'older') })
  t.equal((await read(kube, 'older')).data, undefined)
})

t.test('HV-5: and so it does in the status, by way of the status', async t => {
  const name = `${namespace}-status`
  t.teardown(() => kube.delete(Node, { name }))
  await other.create(Node, { metadata: { name } }) // nothing to own, so the server tracks no owners until the first apply
  const times = { lastTransitionTime: '2026-01-01T00:00:00Z', lastHeartbeatTime: '2026-01-01T00:00:00Z' }
  const ready = (status: string) => ({ type: 'DroverReady', status, reason: 'Test', message: 'text', ...times })
  const theirs = { type: 'Theirs', status: 'True', reason: 'Test', message: 'text', ...times }
  await other.patch(Node, { name }, { status: { conditions: [ready('True'), theirs] } }, { subresource: 'status' })
  const node = (conditions: object[]) => ({ metadata: { name }, status: { conditions } }) as Node
  await kube.applyStatus(Node, node([ready('False')]), { live: (await kube.find(Node, name))! })
  t.match(findCondition(await kube.find(Node, name), 'DroverReady'), { status: 'False' })
  await kube.applyStatus(Node, node([]), { live: (await kube.find(Node, name))! })
  const now = await kube.find(Node, name)
  t.equal(findCondition(now, 'DroverReady'), undefined)
  t.ok(findCondition(now, 'Theirs'))
})

t.test('HV-5, HV-6: conditions merge by type; an equal set is not written again', async t => {
  const name = `${namespace}-conditions`
  t.teardown(() => kube.delete(Node, { name }))
  await kube.apply(Node, { metadata: { name } })
  const verdict = { type: 'Mine', status: 'True', reason: 'Test', message: 'all well' } as const
  const write = async (by: Kube, type: string, now: Date) => {
    const live = (await by.find(Node, name))!
    const conditions = conditionSet(live.status?.conditions, [{ ...verdict, type }], now)
    return by.applyStatus(Node, { metadata: { name }, status: { conditions } }, { live })
  }
  await write(kube, 'Mine', new Date(0))
  await write(other, 'Theirs', new Date(0))
  t.strictSame(await sent(() => write(kube, 'Mine', new Date())), ['get OK'])
  const node = await kube.find(Node, name)
  t.match(findCondition(node, 'Mine'), { status: 'True', lastTransitionTime: '1970-01-01T00:00:00Z' })
  t.match(findCondition(node, 'Theirs'), { status: 'True' })
})

t.test('without force, a field of another manager is a Conflict that names it', async t => {
  await other.apply(ConfigMap, map('contested', { a: 'theirs' }))
  const error = await kube.apply(ConfigMap, map('contested', { a: 'ours' }), { force: false }).catch((err: unknown) => err)
  t.ok(error instanceof KubeError)
  t.match(error, { code: 'Conflict', status: 409, retryable: false, message: /conflict with "somebody-else".*\.data\.a/ })
  t.strictSame((await kube.apply(ConfigMap, map('contested', { a: 'ours' }))).data, { a: 'ours' }, 'with force it is taken')
})

t.test('the same apply twenty times at once is one write', async t => {
  for (const live of [undefined, true]) {
    const name = live ? 'twenty-again' : 'twenty'
    if (live) await other.create(ConfigMap, map(name, { a: '1' }))
    const before = live && (await read(kube, name))
    const results = await Promise.all(
      Array.from({ length: 20 }, () => kube.apply(ConfigMap, map(name, { a: '1', b: '2' }), before ? { live: before } : {}))
    )
    const final = await read(kube, name)
    t.strictSame(new Set(results.map(({ metadata }) => metadata!.resourceVersion)), new Set([final.metadata!.resourceVersion]))
    t.strictSame(final.data, { a: '1', b: '2' })
  }
})

t.test('an object that was deleted meanwhile does not come back', async t => {
  await kube.apply(ConfigMap, map('gone', { a: '1' }))
  const live = await read(kube, 'gone')
  await kube.delete(ConfigMap, { name: 'gone', namespace })
  await t.rejects(kube.apply(ConfigMap, map('gone', { a: '2' }), { live }), { code: 'NotFound', retryable: false })
  t.equal(await kube.find(ConfigMap, 'gone', namespace), undefined)
  await kube.apply(ConfigMap, map('gone', { a: 'another' }))
  await t.rejects(kube.apply(ConfigMap, map('gone', { a: '2' }), { live }), { code: 'NotFound' })
  t.strictSame((await read(kube, 'gone')).data, { a: 'another' })
})

t.test('an apply that names a version holds to it', async t => {
  await kube.apply(ConfigMap, map('versioned', { a: '1' }))
  const { metadata } = await read(kube, 'versioned')
  await other.apply(ConfigMap, map('versioned', { b: '1' }))
  const wanted = {
    ...map('versioned', { a: '2' }),
    metadata: { name: 'versioned', namespace, resourceVersion: metadata!.resourceVersion! }
  }
  await t.rejects(kube.apply(ConfigMap, wanted), { code: 'Conflict', retryable: true })
})

t.test('a dry run changes nothing', async t => {
  await kube.apply(ConfigMap, map('dry', { a: '1' }))
  t.strictSame((await kube.apply(ConfigMap, map('dry', { a: '2' }), { dryRun: true })).data, { a: '2' })
  t.strictSame((await read(kube, 'dry')).data, { a: '1' })
})

const owner = await kube.create(ConfigMap, map('owner', {})) // a real one, or the garbage collector takes what it owns

const shapes: Array<[name: string, kind: Kind, wanted: (name: string) => KubeObject]> = [
  [
    'lists by key, lists as a whole, numbers, empty things',
    Deployment,
    name => ({
      metadata: { name, namespace, labels: { 'example.dev/a.b': 'x' }, annotations: { note: 'ü "quoted"' } },
      spec: {
        replicas: 0,
        selector: { matchLabels: { app: name } },
        template: {
          metadata: { labels: { app: name } },
          spec: {
            containers: [
              {
                name: 'b',
                image: 'b:1',
                env: [
                  { name: 'B', value: '2' },
                  { name: 'A', value: '1' }
                ],
                args: ['--x', '--y']
              },
              { name: 'a', image: 'a:1', ports: [{ containerPort: 80, protocol: 'TCP' }], securityContext: {} }
            ],
            tolerations: [{ operator: 'Exists' }],
            nodeSelector: { 'kubernetes.io/os': 'linux' },
            volumes: [{ name: 'tmp', emptyDir: {} }]
          }
        }
      }
    })
  ],
  ['rules', Role, name => ({ metadata: { name, namespace }, rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] })],
  ['a set', ConfigMap, name => ({ metadata: { name, namespace, finalizers: ['example.dev/b', 'example.dev/a'] } })],
  [
    'owners',
    ConfigMap,
    name => ({
      metadata: {
        name,
        namespace,
        ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata!.uid! }]
      }
    })
  ],
  ['nothing but a name', ConfigMap, name => ({ metadata: { name, namespace } })]
]
for (const [name, kind, wanted] of shapes) {
  t.test(`HV-7: ${name}: not sent again, beside labels of others`, async t => {
    const object = wanted(name.replace(/[^a-z]+/g, '-'))
    const { name: id = '' } = object.metadata!
    t.teardown(() => kube.patch(kind, { name: id, namespace }, { metadata: { finalizers: null } }))
    await kube.apply(kind, object)
    await other.apply(kind, { metadata: { name: id, namespace, labels: { theirs: 'yes' }, finalizers: ['example.dev/theirs'] } })
    const live = (await kube.find(kind, id, namespace))!
    t.strictSame(await sent(() => kube.apply(kind, object, { live })), [])
    const labelled = { ...object, metadata: { ...object.metadata, labels: { ...object.metadata?.labels, more: '1' } } }
    t.strictSame(await sent(() => kube.apply(kind, labelled, { live })), ['apply OK'])
  })
}

t.test('HV-5: who may write the status alone still writes it', async t => {
  const name = `${namespace}-least`
  const metadata = { name }
  const apiGroup = 'rbac.authorization.k8s.io'
  t.teardown(() => Promise.all([Node, ClusterRole, ClusterRoleBinding].map(kind => kube.delete(kind, { name }))))
  await kube.apply(ClusterRole, { metadata, rules: [{ apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] }] })
  const subjects = [{ apiGroup, kind: 'User', name: 'dev' }]
  await kube.apply(ClusterRoleBinding, { metadata, roleRef: { apiGroup, kind: 'ClusterRole', name }, subjects })
  await other.create(Node, { metadata: { name, labels: { a: '1' } } })
  await other.patch(Node, { name }, { status: { conditions: [{ type: 'Mine', status: 'True' }] } }, { subresource: 'status' })
  const warnings: string[] = []
  const warn = (_: object, message: string) => void warnings.push(message)
  const dev = await connected(t, api, { user: { token: api.devToken }, manager: 'dev', log: { warn } })
  const live = (await kube.find(Node, name))!
  const write = () => dev.applyStatus(Node, { metadata, status: { conditions: [{ type: 'Mine', status: 'False' }] } }, { live })
  await until(() =>
    write().then(
      () => true,
      (err: KubeError) => err.code !== 'Forbidden'
    )
  )
  t.match(findCondition(await kube.find(Node, name), 'Mine'), { status: 'False' })
  t.ok(warnings.includes('ownership not taken over'))
})
