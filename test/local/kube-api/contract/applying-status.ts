// Server-side apply of a status: it has its own owners.
import type { Test } from 'tap'
import { applier, empty, owners } from './applied.ts'
import { apply, type Api } from './target.ts'

export async function applyingStatus(t: Test, api: Api): Promise<void> {
  const { widgets, done, call } = api
  const applied = applier(api)
  await applied('status', 'one', { color: 'red' })
  const body = {
    apiVersion: 'contract.drover.dev/v1',
    kind: 'Widget',
    metadata: { name: 'status', labels: { q: '1' } },
    spec: { size: 7 },
    status: { phase: 'x', conditions: [{ type: 'Ready', status: 'True' }] }
  }
  const status = await done('PATCH', `${widgets}/status/status?fieldManager=agent`, body, apply)
  t.match(status, { spec: { size: 3 }, status: { phase: 'x' } })
  t.strictSame(owners(status)[0], [
    'agent',
    'Apply',
    'status',
    {
      'f:status': {
        'f:conditions': { 'k:{"type":"Ready"}': { '.': empty, 'f:status': empty, 'f:type': empty } },
        'f:phase': empty
      }
    }
  ])
  const second = await done(
    'PATCH',
    `${widgets}/status/status?fieldManager=function`,
    { ...body, spec: undefined, status: { conditions: [{ type: 'Evicting', status: 'False' }] } },
    apply
  )
  t.strictSame(
    (second.status?.conditions as Array<{ type: string }> | undefined)?.map(({ type }) => type),
    ['Ready', 'Evicting']
  )
  const refused = await call(
    'PATCH',
    `${widgets}/status/status?fieldManager=function`,
    { ...body, spec: undefined, status: { conditions: [{ type: 'Ready', status: 'False' }] } },
    apply
  )
  t.equal(
    refused.body.message,
    'Apply failed with 1 conflict: conflict with "agent" with subresource "status": .status.conditions[type="Ready"].status'
  )
  const main = await applied('status', 'one', { color: 'red', size: 5 })
  t.equal(main.status?.phase, 'x')
  const missing = await call(
    'PATCH',
    `${widgets}/nothing/status?fieldManager=agent`,
    { ...body, metadata: { name: 'nothing' } },
    apply
  )
  t.equal(missing.status, 404, 'status of nothing is not created')
  const stale = await call(
    'PATCH',
    `${widgets}/status/status?fieldManager=function`,
    { ...body, spec: undefined, metadata: { name: 'status', resourceVersion: status.metadata.resourceVersion }, status: {} },
    apply
  )
  t.equal(stale.status, 409, 'status against an old resourceVersion')
  t.match(stale.body, { reason: 'Conflict', message: /the object has been modified/ })
  const fresh = await done(
    'PATCH',
    `${widgets}/status/status?fieldManager=function`,
    {
      ...body,
      spec: undefined,
      metadata: { name: 'status', resourceVersion: main.metadata.resourceVersion },
      status: { phase: 'x' }
    },
    apply
  )
  t.equal(fresh.status?.phase, 'x', 'and against the present one')
}
