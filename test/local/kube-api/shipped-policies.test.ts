// The policies that Drover ships, as the embedded API enforces them; test/agents proves the same on the real one.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { connect, type Api } from './contract/target.ts'
import { embedded } from './embedded.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const objectsIn = async (path: string): Promise<object[]> =>
  parseAllDocuments(await readFile(join(root, path), 'utf8')).map(document => document.toJSON() as object)

/** An API with these files, and one who asks as a service account whose token names a node. */
async function served(
  t: Test,
  files: string[],
  account: { namespace: string; name: string },
  node: string
): Promise<Api['call']> {
  const target = await embedded(t, { objects: (await Promise.all(files.map(objectsIn))).flat() })
  const path = join(target.folder, 'agent')
  await target.kube.writeKubeconfig(path, { ...account, node })
  const config = parse(await readFile(path, 'utf8')) as { users: [{ user: { token: string } }] }
  const { call } = connect({ ...target, adminToken: config.users[0].user.token })
  return call
}

t.test('OV-5: an agent writes the OVSNode of its own node only', async t => {
  const agent = { namespace: 'ovn-system', name: 'ovs-agent' }
  const call = await served(t, ['crds/ovsnodes.ovs.c5c3.io.yaml', 'knative/ovs-agent.yaml'], agent, 'node-a')
  const post = (name: string) =>
    call('POST', '/apis/ovs.c5c3.io/v1alpha1/namespaces/ovn-system/ovsnodes', {
      apiVersion: 'ovs.c5c3.io/v1alpha1',
      kind: 'OVSNode',
      metadata: { name },
      spec: { nodeRef: { name } }
    })
  const foreign = await post('node-b')
  t.equal(foreign.status, 422)
  t.match(foreign.body.message, /'drover-ovs-agent' denied request: an OVS agent may write the OVSNode of its own node only$/)
  t.equal((await post('node-a')).status, 201)
})

t.test('an agent asks for a certificate of its own node only, and not of the signers of the cluster', async t => {
  const agent = { namespace: 'drover-agents', name: 'hypervisor-agent' }
  const account = ['knative/hypervisor-agent.yaml', 'knative/components/csr/rights.yaml']
  const call = await served(t, account, agent, 'a')
  const post = async (name: string, signerName = 'drover.dev/libvirt'): Promise<[number, string]> => {
    const { status, body } = await call('POST', '/apis/certificates.k8s.io/v1/certificatesigningrequests?dryRun=All', {
      metadata: { name },
      spec: { signerName, request: Buffer.from('none').toString('base64'), usages: ['client auth'] }
    })
    return [status, /denied request: (.*)$/.exec(body.message ?? '')?.[1] ?? '']
  }
  const foreign = 'a hypervisor agent may ask for a certificate of its own node only'
  t.strictSame(await post('libvirt-a-0123456789'), [201, ''])
  t.strictSame(await post('libvirt-b-0123456789'), [422, foreign])
  t.strictSame(await post('libvirt-a-b-0123456789'), [422, foreign])
  t.strictSame(await post('libvirt-a-0123456789', 'kubernetes.io/kube-apiserver-client'), [
    422,
    "a hypervisor agent may not ask the cluster's own signers"
  ])
})
