// HV-12: what was admitted counts before a watch shows it.
import t from 'tap'
import { admittedHosts } from '../../../functions/admission/admitted.ts'
import { review, type Deps } from '../../../functions/admission/handler.ts'
import { readReview } from '../../../functions/admission/review.ts'
import { hostOf, type Host } from '../../../shared/rules/fleet.ts'
import { withDefaults } from '../../../shared/schema/defaults.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { deps as some, reviewOf } from './fuzz-bases.ts'

const status = {
  capacity: { cpu: 4, memory: '4Gi' },
  numInstances: 0,
  aggregates: [{ name: 'gpu', uuid: '6fa459ea-ee8a-3ca4-894e-db77e160355e', metadata: { maxUnavailable: '1' } }]
}
const host = (name: string, spec: object = {}): Hypervisor => {
  const metadata = { name, labels: { 'topology.kubernetes.io/zone': 'z' } }
  return withDefaults(Hypervisor, { metadata, spec, status }) as unknown as Hypervisor
}

/** Three hosts of an aggregate that can spare one, and an API server whose watch never shows what was written. */
function fleet() {
  let now = 0
  const admitted = admittedHosts(() => new Date(now))
  const hosts = ['a', 'b', 'c'].map(name => hostOf(host(name)))
  const knowledge = {
    ...some.knowledge,
    hosts: () => ({ known: true as const, value: admitted.over(hosts) }),
    letGo: (host: Host) => admitted.add(host)
  }
  const deps: Deps = { ...some, knowledge }
  const ask = async (name: string, more: object = {}, spec: object = { maintenance: 'auto' }) => {
    const about = { operation: 'UPDATE', name, oldObject: host(name), ...more }
    const body = reviewOf('kvm.cloud.sap', 'hypervisors', host(name, spec), about)
    return (JSON.parse(await review(readReview(body), deps)) as { response: { allowed: boolean } }).response.allowed
  }
  return { ask, admitted, later: (ms: number) => void (now += ms) }
}

t.test('the second of two in one instant is refused, the first may be asked again', async t => {
  const { ask } = fleet()
  t.equal(await ask('a'), true)
  t.equal(await ask('b'), false, 'the aggregate can spare one')
  t.equal(await ask('a'), true)
})

t.test('neither a dry run, nor a refusal, nor another change is remembered', async t => {
  const { ask } = fleet()
  t.equal(await ask('a', { dryRun: true }), true)
  t.equal(await ask('a', {}, { maintenance: 'manual' }), false, 'R2: no reason')
  t.equal(await ask('a', {}, { version: '2' }), true)
  t.equal(await ask('a', { subResource: 'status' }), true)
  t.equal(await ask('b'), true)
})

t.test('for as long as a watch may be behind, or until it shows the host', async t => {
  const { ask, admitted, later } = fleet()
  t.equal(await ask('a'), true)
  later(9_999)
  t.equal(await ask('b'), false)
  later(1)
  t.equal(await ask('b'), true, 'it was not stored after all')
  admitted.seen(hostOf(host('b')))
  t.equal(await ask('c'), false, 'an older version of it says nothing')
  admitted.seen(hostOf(host('b', { maintenance: 'auto' })))
  t.equal(await ask('c'), true, 'now the watch itself tells of b, and this one never does')
})
