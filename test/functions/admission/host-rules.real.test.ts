// R1–R5, the immutability of Evictions (§1.5) and OV-5 through the real API server. Its CRDs say nothing of them here, as on an older
// cluster, so that the webhook itself is seen to refuse; with its own CRDs it refuses the same before the webhook is asked.
import t from 'tap'
import { eventually } from '../../servers/eventually.ts'
import { ownKubernetes } from '../../servers/kubernetes.ts'
import { request } from '../../servers/request.ts'
import { type HostCase, hostCases } from './host.cases.ts'
import { loosenCrds } from './loose-crds.ts'
import {
  as,
  evictionKind,
  evictions,
  hostKind,
  hosts,
  merged,
  ovsNodes,
  refusedBy,
  warnedBy,
  webhookInPlace,
  write
} from './webhook.ts'

t.setTimeout(240_000)
const api = await ownKubernetes(t)
const kinds = {
  Hypervisor: { list: hosts, type: hostKind },
  Eviction: { list: evictions, type: evictionKind },
  OVSNode: { list: ovsNodes.list(api.namespace), type: ovsNodes.kind }
}
const jane = as('jane')
const nameOf = (one: HostCase) => (one.was ? `was-${hostCases.indexOf(one)}` : 'new')
const send = (one: HostCase, spec: object) => {
  const { list, type } = kinds[one.kind ?? 'Hypervisor']
  const who = one.as ?? jane
  return one.was
    ? write(api, 'PATCH', `${list}/${nameOf(one)}`, { spec }, { ...who, ...merged })
    : write(api, 'POST', list, { ...type, metadata: { name: nameOf(one) }, spec }, who)
}
for (const one of hostCases) {
  if (!one.was) continue
  const { list, type } = kinds[one.kind ?? 'Hypervisor']
  const { status, body } = await request(api, 'POST', list, { ...type, metadata: { name: nameOf(one) }, spec: one.was })
  if (status !== 201) throw new Error(JSON.stringify(body))
}

t.test('with its own CRDs, the API server refuses them by itself', async t => {
  for (const one of hostCases) {
    t.equal((await send(one, one.bad)).status, 422, `${one.id} ${JSON.stringify(one.bad)}`)
    t.ok((await send(one, one.good)).status < 300, `and takes ${JSON.stringify(one.good)}`)
  }
})

t.test('the webhook refuses them where the CRDs do not', async t => {
  await loosenCrds(api, ['x-kubernetes-validations', 'minLength', 'pattern'])
  for (const one of hostCases) await eventually(`a CRD without ${one.id}`, async () => (await send(one, one.bad)).status < 300)
  await webhookInPlace(t, api)
  for (const one of hostCases) {
    await t.test(`${one.id} refuses ${JSON.stringify(one.bad)}`, async t => {
      const refused = await send(one, one.bad)
      t.ok([403, 422].includes(refused.status), 'is refused', { refused })
      t.strictSame(refusedBy(refused), [one.id], 'by this rule alone', { refused })
      const passed = await send(one, one.good)
      t.ok(passed.status < 300, 'the neighbour passes', { passed })
      t.strictSame(warnedBy(passed), [], 'in silence', { passed })
    })
  }
})
