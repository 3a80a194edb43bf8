// functions/certificate on the real API server, under exactly the role of knative/certificate.yaml.
import t from 'tap'
import handler from '../../../functions/certificate/handler.ts'
import { Certificate } from '../../../functions/certificate/render.ts'
import { connect as connectKube, Node } from '../../../shared/kube/index.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { eventually } from '../../servers/eventually.ts'
import { ownKubernetes } from '../../servers/kubernetes.ts'
import { rightsOf } from '../../servers/rights.ts'
import { request } from '../../servers/request.ts'
import { run } from '../host-life/platform.ts'

t.setTimeout(300_000)
const api = await ownKubernetes(t)
const admin = await connectKube({ manager: 'test', kubeconfig: api.kubeconfig })
t.teardown(() => admin.close())
const running = await run(t, api, [handler], {})
const find = (node: string) => admin.find(Certificate, `libvirt-${node}`, 'monsoon3')

/** cert-manager's kind with any content: what is in it is cert-manager's business. */
async function installCertManager(): Promise<void> {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  const crd = {
    metadata: { name: 'certificates.cert-manager.io' },
    spec: {
      group: 'cert-manager.io',
      scope: 'Namespaced',
      names: { kind: 'Certificate', plural: 'certificates', singular: 'certificate' },
      versions: [{ name: 'v1', served: true, storage: true, schema }]
    }
  }
  await request(api, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd)
  await eventually('the kind', async () => (await request(api, 'GET', '/apis/cert-manager.io/v1/certificates')).status === 200)
}

t.test('HV-60, HV-61: each labelled node has its certificate', async t => {
  const made = await admin.create(Node, {
    metadata: { name: 'node1', labels: { 'nova.openstack.cloud.sap/virt-driver': 'kvm' } }
  })
  const addresses = [
    { type: 'InternalIP', address: '10.0.0.2' },
    { type: 'ExternalIP', address: '192.0.2.1' },
    { type: 'Hostname', address: 'node1' },
    { type: 'InternalDNS', address: 'node1.internal' }
  ]
  await admin.patch(Node, { name: 'node1' }, { status: { addresses } }, { subresource: 'status' })
  const changed = () => running.post('certificate', 'io.k8s.node.changed.v1', { apiVersion: 'v1', kind: 'Node', name: 'node1' })
  t.equal(await changed(), 204, 'without cert-manager it waits')
  await installCertManager()
  t.strictSame(await running.tick('slow'), [204], 'HV-9: by the tick alone')
  const found = await find('node1')
  t.match(found, {
    metadata: { ownerReferences: [{ kind: 'Node', uid: made.metadata?.uid }] },
    spec: {
      secretName: 'tls-libvirt-node1',
      commonName: 'node1',
      subject: { organizations: ['nova'] },
      duration: '1128h0m0s',
      renewBefore: '888h0m0s',
      privateKey: { algorithm: 'RSA', size: 4096, encoding: 'PKCS1' },
      issuerRef: { kind: 'Issuer', name: 'nova-hypervisor-agents-ca-issuer' }
    }
  })
  t.strictSame(found?.spec.dnsNames, ['node1', 'node1.internal'])
  t.strictSame(found?.spec.ipAddresses, ['10.0.0.2', '192.0.2.1'])
  t.strictSame(found?.spec.usages, ['server auth', 'client auth', 'digital signature', 'key encipherment'])
  t.equal(await changed(), 204)
  t.equal((await find('node1'))?.metadata?.resourceVersion, found?.metadata?.resourceVersion, 'HV-7')
})

t.test('a node that is no hypervisor has none', async t => {
  await admin.create(Node, { metadata: { name: 'worker' } })
  t.equal(await running.post('certificate', 'io.k8s.node.changed.v1', { apiVersion: 'v1', kind: 'Node', name: 'worker' }), 204)
  t.equal(await find('worker'), undefined)
})

t.test('HV-8: a host that is only observed has none', async t => {
  const labels = { 'nova.openstack.cloud.sap/virt-driver': 'kvm' }
  await admin.create(Node, { metadata: { name: 'watched', labels } })
  const annotations = { 'kvm.cloud.sap/drover-observe': 'true' }
  await admin.create(Hypervisor, { metadata: { name: 'watched', annotations }, spec: {} })
  t.equal(await running.post('certificate', 'io.k8s.node.changed.v1', { apiVersion: 'v1', kind: 'Node', name: 'watched' }), 204)
  t.strictSame(await running.tick('slow'), [204])
  t.equal(await find('watched'), undefined)
})

t.test('its role is the smallest that works', async t => {
  const worker = { type: 'InternalIP', address: '10.0.0.3' }
  await admin.patch(Node, { name: 'node1' }, { status: { addresses: [worker] } }, { subresource: 'status' })
  t.strictSame(await running.tick('slow'), [204])
  t.strictSame((await find('node1'))?.spec.ipAddresses, ['10.0.0.3'], 'another address, another certificate')
  t.strictSame(await rightsOf(api, 'certificate.yaml', 'certificate'), { unused: [], refused: [] })
})
