// Reviews to begin with, a function to ask that knows a little, and what an answer must be like.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { Reply } from '../../../functions/admission/edge.ts'
import type { Deps } from '../../../functions/admission/handler.ts'
import { defaultPolicy } from '../../../shared/rules/asked.ts'
import { hostOf } from '../../../shared/rules/fleet.ts'
import { withDefaults } from '../../../shared/schema/defaults.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import type { NetworkConfiguration } from '../../../shared/schema/network-configuration.ts'

const network: NetworkConfiguration = {
  metadata: { name: 'n' },
  spec: { podNetwork: true },
  status: { machineCount: 1, machines: [{ name: 'o', nic: 'a', macAddress: '52:54:00:AB:CD:0E' }] }
}
export const failed: unknown[] = []
export const log = { error: ({ err }: { err: unknown }) => void failed.push(err), info: () => undefined }
const host = {
  metadata: { name: 'h', labels: { 'topology.kubernetes.io/zone': 'z' } },
  spec: {},
  status: { capacity: { cpu: 4, memory: '4Gi' }, numInstances: 0 }
}
export const deps = {
  clock: () => new Date(0),
  record: () => undefined,
  log,
  maxBytes: 8 * 1024 * 1024,
  policy: { ...defaultPolicy, enforce: true, maxUnavailable: '25%' },
  options: { architecture: 'amd64', allowI440fx: false },
  knowledge: {
    network: (name: string) => (name.length % 2 ? { known: true, value: network } : { known: false }),
    storageClass: () => ({ known: true, value: undefined }),
    hosts: () => ({ known: true, value: [hostOf(host as unknown as Hypervisor)] }),
    letGo: () => undefined,
    evictions: () => ({ known: true, value: [{ metadata: { name: 'e' }, spec: { hypervisor: 'h', reason: 'r' } }] }),
    secret: async () => ({ known: true, value: true }),
    mayClone: async () => false
  }
} as unknown as Deps

const objects = join(import.meta.dirname, '../../fixtures/objects')
const sample = (kind: string, file: string): object => {
  const { object, old: _old, ...bare } = parse(readFileSync(join(objects, kind, 'valid', `${file}.yaml`), 'utf8'))
  return object ?? bare
}
export const reviewOf = (group: string, resource: string, object: object, more: object = {}): string =>
  JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
      operation: 'CREATE',
      resource: { group, version: 'v1', resource },
      name: 'x',
      namespace: 'default',
      userInfo: { username: 'jane', groups: ['devs'], extra: { 'authentication.kubernetes.io/node-name': ['h'] } },
      object,
      ...more
    }
  })
export const golden = sample('machine', 'golden')
const hypervisor = withDefaults(Hypervisor, { ...sample('hypervisor', 'groups'), status: { numInstances: 1, conditions: [] } })
const agent = {
  username: 'system:serviceaccount:drover-agents:hypervisor-agent',
  extra: { 'authentication.kubernetes.io/node-name': ['h'] }
}
export const bases = [
  reviewOf('vitistack.io', 'machines', golden),
  reviewOf('vitistack.io', 'machines', sample('machine', 'sources')),
  reviewOf(
    'vitistack.io',
    'machines',
    { ...golden, metadata: { name: 'a', annotations: { 'vitistack.io/confirm-disk-removal': 'root' } } },
    { operation: 'UPDATE', oldObject: sample('machine', 'seed-custom-vm') }
  ),
  reviewOf('vitistack.io', 'networkconfigurations', network, {
    operation: 'UPDATE',
    oldObject: { ...network, spec: { bridge: 'br0', ipam: { subnet: '10.0.0.0/8', gateway: '10.0.0.1', dns: ['::1'] } } }
  }),
  reviewOf('vitistack.io', 'networkconfigurations', network, { operation: 'DELETE', object: null, oldObject: network }),
  reviewOf(
    'kvm.cloud.sap',
    'hypervisors',
    { ...hypervisor, spec: withDefaults(Hypervisor, { spec: { maintenance: 'auto' } }).spec },
    { operation: 'UPDATE', oldObject: hypervisor }
  ),
  reviewOf('kvm.cloud.sap', 'hypervisors', hypervisor, {
    operation: 'UPDATE',
    subResource: 'status',
    userInfo: agent,
    oldObject: hypervisor
  }),
  reviewOf('kvm.cloud.sap', 'evictions', sample('eviction', 'minimal')),
  reviewOf('ovs.c5c3.io', 'ovsnodes', sample('ovsnode', 'seed'), {
    userInfo: { ...agent, username: 'system:serviceaccount:ovn-system:ovs-agent' }
  })
]

/** Undefined when it is as it must be. */
export function fault({ status, text }: Reply): string | undefined {
  if (status >= 400 && status < 500) return text.length < 200 ? undefined : 'a long word'
  if (status !== 200) return `status ${status}`
  const { apiVersion, kind, response } = JSON.parse(text)
  if (apiVersion !== 'admission.k8s.io/v1' || kind !== 'AdmissionReview') return 'no AdmissionReview'
  if (typeof response.uid !== 'string' || typeof response.allowed !== 'boolean') return 'no verdict'
  return response.allowed || typeof response.status.message === 'string' || response.status.code >= 400 ? undefined : 'no reason'
}
