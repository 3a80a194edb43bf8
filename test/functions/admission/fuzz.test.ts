// 200,000 mutated reviews: always a valid answer or a 4xx, and memory stays flat.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { parse } from 'yaml'
import { reply, type Reply } from '../../../functions/admission/edge.ts'
import { review, stamp, type Deps } from '../../../functions/admission/handler.ts'
import { defaultPolicy } from '../../../shared/rules/asked.ts'
import { hostOf } from '../../../shared/rules/fleet.ts'
import { withDefaults } from '../../../shared/schema/defaults.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import type { NetworkConfiguration } from '../../../shared/schema/network-configuration.ts'
import { many } from '../../many.ts'
import { mutated, seeded } from './mutate.ts'

t.setTimeout(600_000) // some 20 s of CPU; the machine may be shared by many
const rounds = many(200_000)
const seed = 20_261_116

const network: NetworkConfiguration = {
  metadata: { name: 'n' },
  spec: { podNetwork: true },
  status: { machineCount: 1, machines: [{ name: 'o', nic: 'a', macAddress: '52:54:00:AB:CD:0E' }] }
}
const failed: unknown[] = []
const log = { error: ({ err }: { err: unknown }) => void failed.push(err), info: () => undefined }
const host = {
  metadata: { name: 'h', labels: { 'topology.kubernetes.io/zone': 'z' } },
  spec: {},
  status: { capacity: { cpu: 4, memory: '4Gi' }, numInstances: 0 }
}
const deps = {
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
const reviewOf = (group: string, resource: string, object: object, more: object = {}): string =>
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
const golden = sample('machine', 'golden')
const hypervisor = withDefaults(Hypervisor, { ...sample('hypervisor', 'groups'), status: { numInstances: 1, conditions: [] } })
const agent = {
  username: 'system:serviceaccount:drover:hypervisor-agent',
  extra: { 'authentication.kubernetes.io/node-name': ['h'] }
}
const bases = [
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
function fault({ status, text }: Reply): string | undefined {
  if (status >= 400 && status < 500) return text.length < 200 ? undefined : 'a long word'
  if (status !== 200) return `status ${status}`
  const { apiVersion, kind, response } = JSON.parse(text)
  if (apiVersion !== 'admission.k8s.io/v1' || kind !== 'AdmissionReview') return 'no AdmissionReview'
  if (typeof response.uid !== 'string' || typeof response.allowed !== 'boolean') return 'no verdict'
  return response.allowed || typeof response.status.message === 'string' || response.status.code >= 400 ? undefined : 'no reason'
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const heapMiB = (): number => {
  collect()
  return process.memoryUsage().heapUsed / 2 ** 20
}

t.test(`${rounds} mutated reviews`, async t => {
  const random = seeded(seed)
  const faults: string[] = []
  const statuses = new Map<number, number>()
  let early = 0
  for (let i = 0; i < rounds; i++) {
    const body = mutated(random, bases[i % bases.length] as string)
    const answered = await reply(body, asked => (i % 10 === 5 ? stamp(asked, deps) : review(asked, deps)), log as never)
    statuses.set(answered.status, (statuses.get(answered.status) ?? 0) + 1)
    const wrong = fault(answered)
    if (wrong !== undefined && faults.length < 5) faults.push(`${i}: ${wrong}: ${body.slice(0, 2000)}`)
    if (i === rounds / 4) early = heapMiB()
  }
  t.same(faults, [])
  t.same(failed.slice(0, 3), [], 'no error on our side')
  t.ok((statuses.get(200) ?? 0) > rounds / 2, 'most of them were judged', { statuses: [...statuses] })
  t.notOk('polluted' in {}, 'no prototype was touched')
  const grown = heapMiB() - early
  t.ok(grown < 16, `the heap grew by ${grown.toFixed(1)} MiB over the last three quarters`)
})

t.test('large and deep ones', async t => {
  const deep = (n: number) => `${'{"a":'.repeat(n)}1${'}'.repeat(n)}`
  const list = (n: number) => `${'['.repeat(n)}${']'.repeat(n)}`
  const put = (base: string, text: string) => base.replace('"spec":{', `"spec":{"deep":${text},`)
  const text = 'x'.repeat(3 * 1024 * 1024)
  for (const base of bases) {
    const both = (value: string) => base.replaceAll('"spec":{', `"spec":{"deep":${value},`)
    for (const body of [
      put(base, deep(100_000)),
      both(deep(100_000)),
      both(list(200_000)),
      both(JSON.stringify(text)),
      base.replace('"name":"', `"name":"${text}`)
    ])
      t.equal(fault(await reply(body, asked => review(asked, deps), log as never)), undefined)
  }
  const many = { template: 'small', disks: Array.from({ length: 20_000 }, (_, i) => ({ name: `d${i}`, size: '1Gi' })) }
  t.equal(
    fault(
      await reply(reviewOf('vitistack.io', 'machines', { ...golden, spec: many }), asked => review(asked, deps), log as never)
    ),
    undefined
  )
  t.same(failed, [])
})
