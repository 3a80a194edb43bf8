// Built-in kinds: strategic patches, apply by key, and the little that the server fills in.
import type { Test } from 'tap'
import { matchWhole } from '../../../assert/match-whole.ts'
import { apply, merge, strategic, until, type Api, type Body } from './target.ts'

export async function builtin(t: Test, api: Api): Promise<void> {
  const { namespace, call, done } = api
  const core = `/api/v1/namespaces/${namespace}`
  const node = `/api/v1/nodes/${namespace}` // nodes are global: named like our namespace
  t.teardown(() => call('DELETE', node))

  await t.test('Node: conditions by type, taints whole', async t => {
    const created = await done('POST', '/api/v1/nodes', { metadata: { name: namespace } })
    t.type(created.spec, Object, 'has a spec, whatever was sent')
    t.strictSame((await done('PATCH', node, { spec: null }, merge)).spec, {}, 'and keeps it')
    t.strictSame((await done('GET', node)).spec, {})
    const status = (manager: string, type: string): Promise<Body> =>
      done(
        'PATCH',
        `${node}/status?fieldManager=${manager}`,
        { apiVersion: 'v1', kind: 'Node', metadata: { name: namespace }, status: { conditions: [{ type, status: 'True' }] } },
        apply
      )
    await status('one', 'Ready')
    const both = await status('two', 'DiskPressure')
    t.strictSame(
      (both.status?.conditions as Array<{ type: string }> | undefined)?.map(({ type }) => type),
      ['Ready', 'DiskPressure']
    )
    const strategicStatus = await done(
      'PATCH',
      `${node}/status`,
      { status: { conditions: [{ type: 'Ready', status: 'False' }] } },
      strategic
    )
    matchWhole(t, strategicStatus.status?.conditions, [
      { type: 'Ready', status: 'False' },
      { type: 'DiskPressure', status: 'True' }
    ])
    await done('PATCH', node, { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } }, strategic)
    const tainted = await done('PATCH', node, { spec: { taints: [{ key: 'b', effect: 'NoSchedule' }] } }, strategic)
    t.strictSame(
      (tainted.spec?.taints as Array<{ key: string }> | undefined)?.map(({ key }) => key),
      ['b']
    )
    const selected = await done('GET', `/api/v1/nodes?fieldSelector=metadata.name%3D${namespace}`)
    matchWhole(t, selected, { kind: 'NodeList', items: [{ metadata: { name: namespace } }] })
  })

  await t.test('Deployment: containers by name', async t => {
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments`
    const containers = [
      { name: 'a', image: 'one', ports: [{ containerPort: 80, protocol: 'TCP' }] },
      { name: 'b', image: 'two' }
    ]
    await done('POST', path, {
      metadata: { name: 'd' },
      spec: {
        replicas: 0,
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers } }
      }
    })
    const images = ({ spec }: Body): unknown => {
      const template = spec?.template as { spec: { containers: Array<{ name: string; image: string }> } }
      return template.spec.containers.map(({ name, image }) => [name, image])
    }
    const patched = await done(
      'PATCH',
      `${path}/d`,
      {
        spec: {
          template: {
            spec: {
              containers: [
                { name: 'b', image: 'three' },
                { name: 'a', $patch: 'delete' }
              ]
            }
          }
        }
      },
      strategic
    )
    t.strictSame(images(patched), [['b', 'three']])
    t.equal(patched.metadata.generation, 2)
    const config = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd' },
      spec: { template: { spec: { containers: [{ name: 'c', image: 'four' }] } } }
    }
    t.strictSame(images(await done('PATCH', `${path}/d?fieldManager=x`, config, apply)), [
      ['b', 'three'],
      ['c', 'four']
    ])
  })

  await t.test('Secret: plain text becomes data', async t => {
    const secret = await done('POST', `${core}/secrets`, { metadata: { name: 's' }, stringData: { a: 'hello' } })
    t.match(secret, { type: 'Opaque', data: { a: 'aGVsbG8=' } })
    t.notOk('stringData' in secret)
  })

  await t.test('ConfigMap: a conflict by key', async t => {
    const config = (value: string): object => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'c' },
      data: { k: value }
    })
    await done('PATCH', `${core}/configmaps/c?fieldManager=one`, config('1'), apply)
    const { status, body } = await call('PATCH', `${core}/configmaps/c?fieldManager=two`, config('2'), apply)
    t.strictSame([status, body.message], [409, 'Apply failed with 1 conflict: conflict with "one": .data.k'])
  })

  await t.test('ConfigMap: texts only, and no map with nothing in it', async t => {
    const refused = await call('POST', `${core}/configmaps`, { metadata: { name: 'odd' }, data: { k: 1 } })
    t.strictSame(
      [refused.status, refused.body.message],
      [
        400,
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string'
      ]
    )
    t.notOk('data' in (await done('POST', `${core}/configmaps`, { metadata: { name: 'empty' }, data: {} })))
    await done('PATCH', `${core}/configmaps/empty`, { data: { k: '1' } }, merge)
    t.notOk('data' in (await done('PATCH', `${core}/configmaps/empty`, { data: { k: null } }, merge)))
  })

  await t.test('Lease and Event are what they were', async t => {
    const lease = await done('POST', `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`, {
      metadata: { name: 'l' },
      spec: { holderIdentity: 'me', leaseDurationSeconds: 15 }
    })
    t.match(lease, { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', spec: { holderIdentity: 'me' } })
    const time = '2026-01-01T00:00:00.000000Z'
    const event = {
      metadata: { name: 'e' },
      regarding: { kind: 'Node', name: 'n', namespace },
      reason: 'Seen',
      note: 'hello',
      type: 'Normal',
      action: 'Look',
      eventTime: time,
      reportingController: 'c',
      reportingInstance: 'i'
    }
    await done('POST', `/apis/events.k8s.io/v1/namespaces/${namespace}/events`, event)
    t.match(await done('GET', `${core}/events/e`), {
      kind: 'Event',
      apiVersion: 'v1',
      involvedObject: { name: 'n' },
      message: 'hello',
      reportingComponent: 'c'
    })
    t.match(await done('GET', `/apis/events.k8s.io/v1/namespaces/${namespace}/events/e`), {
      note: 'hello',
      regarding: { name: 'n' }
    })
  })

  await t.test('Pod: one that runs is given time, one that waits goes at once', async t => {
    const pod = (name: string, more: object): object => ({
      metadata: { name },
      spec: { containers: [{ name: 'c', image: 'i' }], ...more }
    })
    await until(
      () => call('GET', `${core}/serviceaccounts/default`),
      ({ status }) => status === 200
    )
    await done('POST', `${core}/pods`, pod('waits', { nodeSelector: { 'no-node': 'has-this' } })) // a scheduler would be quick to place it
    t.match(await done('GET', `${core}/pods/waits`), { status: { phase: 'Pending' } })
    await done('DELETE', `${core}/pods/waits`)
    t.equal((await call('GET', `${core}/pods/waits`)).status, 404)
    await done('POST', `${core}/pods`, pod('runs', { nodeName: namespace, terminationGracePeriodSeconds: 20 }))
    t.match((await done('DELETE', `${core}/pods/runs`)).metadata, { deletionGracePeriodSeconds: 20, deletionTimestamp: /Z$/ })
    await done('DELETE', `${core}/pods/runs?gracePeriodSeconds=0`)
    t.equal((await call('GET', `${core}/pods/runs`)).status, 404)
  })

  await t.test('Namespace: it goes with all that is in it', async t => {
    const name = `${namespace}-x`
    const made = await done('POST', '/api/v1/namespaces', { metadata: { name } })
    matchWhole(t, made, {
      metadata: { labels: { 'kubernetes.io/metadata.name': name } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' }
    })
    await done('POST', `/api/v1/namespaces/${name}/configmaps`, { metadata: { name: 'c' } })
    await done('POST', `/api/v1/namespaces/${name}/configmaps`, {
      metadata: { name: 'held', finalizers: ['contract.drover.dev/x'] }
    })
    const ending = await done('DELETE', `/api/v1/namespaces/${name}`)
    t.match(ending, { kind: 'Namespace', status: { phase: 'Terminating' }, metadata: { deletionTimestamp: /Z$/ } })
    const late = await call('POST', `/api/v1/namespaces/${name}/configmaps`, { metadata: { name: 'd' } })
    t.strictSame(
      [late.status, late.body.reason, late.body.message],
      [
        403,
        'Forbidden',
        `configmaps "d" is forbidden: unable to create new content in namespace ${name} because it is being terminated`
      ]
    )
    await until(
      () => call('GET', `/api/v1/namespaces/${name}/configmaps/c`),
      ({ status }) => status === 404
    )
  })
}
