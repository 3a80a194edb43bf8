// The kinds as clients of the API server see them.
import t from 'tap'
import { kinds } from '../../shared/schema/index.ts'
import { type Cluster, kubernetes } from '../servers/kubernetes.ts'
import { request } from '../servers/request.ts'

interface Table {
  columnDefinitions: Array<{ name: string; type: string; priority: number }>
}
interface Resources {
  resources: Array<{ name: string; namespaced: boolean; shortNames?: string[] }>
}

// `!` marks a date, `?` a boolean, `#` an integer, and a last digit the priority.
const wanted: Record<string, string> = {
  Hypervisor:
    'Name, Zone 2, Building Block 2, Group 2, Ready, State, Taint, Lifecycle?, High Availability?, Skip Tests?, Version, IP, Instances#, ' +
    'Hardware 2, Kernel 2, Onboarding 3, Service ID 3, Hypervisor ID 3, Age!',
  Eviction: 'Name, Hypervisor, Reason, State, Created!, Done# 1, Failed# 1, ETA 1',
  Migration:
    'Name, Origin, Destination, Type, Operation, Started!, Elapsed, Data Total, Data Processed, Data Remaining, Memory TX, ' +
    'Memory Dirty Rate, Memory Iteration',
  OVSNode: 'Name, Ready, OVS, DPDK?, Bridges, Bonds, OVN, Flows#, Issues#, Observed!, Age!',
  Machine: 'Name, Phase, Template, VM, Node, IPs, Ready, Age!',
  NetworkConfiguration: 'Name, Bridge, VLAN#, Attachment, Machines#, Ready, Age!'
}

const marks: Record<string, string> = { date: '!', boolean: '?', integer: '#' }
const written = ({ columnDefinitions }: Table) =>
  columnDefinitions.map(({ name, type, priority }) => `${name}${marks[type] ?? ''}${priority ? ` ${priority}` : ''}`).join(', ')

async function told(api: Cluster, group: string, version: string, plural: string) {
  const { body } = await request<Resources>(api, 'GET', `/apis/${group}/${version}`)
  const own = body.resources.find(({ name }) => name === plural)
  return [plural, own?.shortNames?.join(), own?.namespaced, body.resources.some(({ name }) => name === `${plural}/status`)]
}

t.test('the kinds on the real API server', async t => {
  const api = await kubernetes(t)

  await t.test('a listing shows the columns of the spec', async t => {
    for (const { group, version, plural, kind } of kinds) {
      const { body } = await request<Table>(api, 'GET', `/apis/${group}/${version}/${plural}`, undefined, {
        accept: 'application/json;as=Table;v=v1;g=meta.k8s.io'
      })
      t.equal(written(body), wanted[kind], kind)
    }
  })

  await t.test('HV-1: short names, scopes and the status subresource', async t => {
    const found = []
    for (const { group, version, plural } of kinds) found.push(await told(api, group, version, plural))
    t.strictSame(found, [
      ['hypervisors', 'hv', false, true],
      ['evictions', 'evi', false, true],
      ['migrations', 'mig', true, true],
      ['ovsnodes', 'ovsn', true, true],
      ['machines', 'm', true, true],
      ['networkconfigurations', 'nc', true, true]
    ])
  })

  await t.test(
    'HV-17: a Migration is created although the server drops its status, and updated through the subresource',
    async t => {
      const list = `/apis/kvm.cloud.sap/v1alpha1/namespaces/${api.namespace}/migrations`
      const migration = {
        apiVersion: 'kvm.cloud.sap/v1alpha1',
        kind: 'Migration',
        metadata: { name: 'server-1' },
        status: { started: '2025-06-01T08:16:00Z', memIteration: 1 }
      }
      const created = await request(api, 'POST', list, migration)
      t.match(created, { status: 201, body: { status: undefined } })
      const updated = await request(api, 'PATCH', `${list}/server-1/status`, migration, {
        'content-type': 'application/merge-patch+json'
      })
      t.match(updated, { status: 200, body: { status: migration.status } })
    }
  )
})
