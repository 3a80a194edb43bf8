// Seeds 002, 003: objects and agents in one cluster, functions in another. Two real API servers; the broker is reached over TLS by an authority
// of its own, and what Drover is told is what components/control-plane and components/hypervisor-cluster set.
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { parse } from 'yaml'
import { connect } from '../../shared/kube/connect.ts'
import { Lease, Node } from '../../shared/kube/kinds.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { startBundle } from '../runtime/bundled.ts'
import { eventually } from '../servers/eventually.ts'
import { applyRights, asServiceAccount } from '../servers/identity.ts'
import { ownKubernetes } from '../servers/kubernetes.ts'
import { request } from '../servers/request.ts'

t.setTimeout(600_000)
const root = join(import.meta.dirname, '../..')
const [controlPlane, hypervisors] = await Promise.all([ownKubernetes(t), ownKubernetes(t)])
const folder = await mkdtemp(join(tmpdir(), 'c-'))
t.teardown(() => rm(folder, { recursive: true }))

/** The functions' identity there: the account of the component, with the function's own rights and no others. */
async function target(): Promise<string> {
  await applyRights(hypervisors, 'hypervisor.yaml')
  const { patches } = parse(
    await readFile(join(root, 'knative/components/hypervisor-cluster/rights/kustomization.yaml'), 'utf8')
  ) as {
    patches: Array<{ target: { kind: string; name: string; namespace?: string }; patch: string }>
  }
  const account = '/api/v1/namespaces/drover/serviceaccounts'
  await request(hypervisors, 'POST', account, { metadata: { name: 'control-plane' } })
  for (const {
    target: { kind, name, namespace },
    patch
  } of patches.filter(({ target: { name } }) => name === 'drover-hypervisor')) {
    const scope = namespace === undefined ? '' : `/namespaces/${namespace}`
    const path = `/apis/rbac.authorization.k8s.io/v1${scope}/${kind.toLowerCase()}s/${name}`
    const { status, body } = await request(hypervisors, 'PATCH', path, patch, { 'content-type': 'application/json-patch+json' })
    if (status !== 200) throw new Error(JSON.stringify(body))
  }
  const { body } = await request<{ status: { token: string } }>(hypervisors, 'POST', `${account}/control-plane/token`, {})
  const cluster = { server: hypervisors.server, 'certificate-authority': hypervisors.ca }
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user: { token: body.status.token } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'c'
  }
  const file = join(folder, 'kubeconfig')
  await writeFile(file, JSON.stringify(config), { mode: 0o600 })
  return file
}

/** What stands before a broker: TLS, and the way on to the function, whose answer it gives. */
async function front(to: () => string): Promise<string> {
  const [cert, key] = await Promise.all([readFile(controlPlane.webhookCert), readFile(controlPlane.webhookKey)])
  const server: Server = createServer({ cert, key }, async (incoming, response) => {
    const headers = Object.entries(incoming.headers).flatMap(([name, value]) =>
      /^(?:ce-|content-type)/.test(name) ? [[name, String(value)]] : []
    )
    const answer = await fetch(to(), {
      method: 'POST',
      headers: Object.fromEntries(headers),
      body: new Uint8Array(await buffer(incoming))
    }).catch(() => undefined) // nobody there: a broker says so, too
    const status = answer?.status ?? 503
    response.writeHead(status < 300 ? 202 : status).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}/drover/default`
}

t.test('a Node of the hypervisor cluster becomes a Hypervisor there, by a function of the control-plane cluster', async t => {
  let url = ''
  const sink = join(folder, 'sink')
  await writeFile(sink, `${await front(() => url)}\n`)
  const fn = await startBundle(t, 'functions/hypervisor/main.ts', { KUBECONFIG: await target() })
  url = fn.url
  const settings = {
    KUBECONFIG: await asServiceAccount(t, hypervisors, 'cluster-agent.yaml', 'cluster-agent'),
    K_SINK_FILE: sink,
    LEASE_NAMESPACE: 'drover',
    POD_NAME: 'one',
    WATCH_MACHINES: 'false'
  }
  const there = await connect({ manager: 'test', kubeconfig: hypervisors.kubeconfig })
  t.teardown(() => there.close())
  const here = await connect({ manager: 'test', kubeconfig: controlPlane.kubeconfig })
  t.teardown(() => here.close())
  await request(hypervisors, 'POST', '/api/v1/nodes', {
    metadata: { name: 'far', labels: { 'nova.openstack.cloud.sap/virt-driver': 'kvm' } }
  })

  t.comment('an authority that nobody told the agent of')
  const distrustful = await startBundle(t, 'agents/cluster/main.ts', settings)
  const failures = /^drover_emitted_total\{[^}]*outcome="failed"\} [1-9]/m
  await eventually('no trust', async () => failures.test(await (await fetch(`${distrustful.url}/metrics`)).text()), 60_000)
  t.equal(await there.find(Hypervisor, 'far'), undefined)
  await distrustful.stop()

  const agent = await startBundle(t, 'agents/cluster/main.ts', { ...settings, NODE_EXTRA_CA_CERTS: controlPlane.ca })
  await eventually('the Hypervisor', async () => (await there.find(Hypervisor, 'far')) !== undefined, 120_000)
  const holder = async (kube: typeof there) => (await kube.find(Lease, 'drover-cluster-agent', 'drover'))?.spec?.holderIdentity
  t.ok(await holder(there), 'the lease is beside the objects')
  t.equal(await holder(here), undefined)
  t.equal(await here.find(Node, 'far'), undefined)
  t.strictSame((await here.list(Hypervisor)).items, [], 'the control-plane cluster has no objects of the fleet')
  t.strictSame(await Promise.all([agent.stop(), fn.stop()]), [0, 0])
})
