// `npm start -- --kubeconfig FILE`: the same functions and wiring, on a real API server in place of the embedded one.
import t from 'tap'
import { connect, Node } from '../../shared/kube/index.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { eventually } from '../servers/eventually.ts'
import { ownKubernetes } from '../servers/real-kubernetes.ts'
import { start } from './start.ts'

t.setTimeout(120_000)

t.test('a Node of the real cluster becomes a Hypervisor', async t => {
  const api = await ownKubernetes(t)
  const drover = start(t, '--kubeconfig', api.kubeconfig, '--functions', 'hypervisor')
  await drover.says(/Drover is ready/)
  const kube = await connect({ manager: 'operator', kubeconfig: api.kubeconfig })
  t.teardown(() => kube.close())
  await kube.create(Node, { metadata: { name: 'real-1', labels: { 'nova.openstack.cloud.sap/virt-driver': 'kvm' } } })
  const made = await eventually('the Hypervisor', () => kube.find(Hypervisor, 'real-1'))
  t.equal(made.metadata.ownerReferences?.[0]?.kind, 'Node')
  await eventually('its condition', async () =>
    (await kube.find(Hypervisor, 'real-1'))?.status?.conditions?.some(({ type }) => type === 'Ready')
  )
  t.equal(await drover.end('SIGTERM'), 0)
  t.ok(await kube.find(Hypervisor, 'real-1'), 'what was made in a real cluster stays')
})
