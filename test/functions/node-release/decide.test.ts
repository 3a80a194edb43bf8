// HV-50, HV-58, HV-59: when a machine may go, when its agents must, and the two objects that hold it back.
import t from 'tap'
import { decide, isManaged, isOpen, taint, type Step } from '../../../functions/node-release/decide.ts'
import { budget, deployment } from '../../../functions/node-release/render.ts'
import type { Node } from '../../../shared/kube/kinds.ts'
import type { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { condition, hypervisor, now } from '../host-life/fixtures.ts'

const driver = { 'nova.openstack.cloud.sap/virt-driver': 'kvm' }
const node = (labels: Record<string, string> = driver, taints: NonNullable<NonNullable<Node['spec']>['taints']> = []): Node => ({
  metadata: { name: 'node-1', uid: 'u', labels },
  spec: { taints }
})
const tainted = node(driver, [taint])
const hourMs = 3_600_000
const step = (given: Hypervisor, of = node()): Step => decide({ node: of, hypervisor: given }, now, hourMs)
const host = (conditions: ReturnType<typeof condition>[], spec: Partial<Hypervisor['spec']> = {}, serviceId = 'service-id') =>
  hypervisor(spec, { conditions, serviceId })
const out = condition('Offboarded', 'True') // an hour ago
const haOn = condition('HaEnabled', 'True')

t.test('whose nodes are looked after', async t => {
  t.equal(isManaged({ node: node(), hypervisor: hypervisor() }), true)
  t.equal(isManaged({ node: node({}), hypervisor: hypervisor() }), false)
  t.equal(isManaged({ node: {}, hypervisor: hypervisor() }), false)
  t.equal(isManaged({ node: node(), hypervisor: hypervisor({ lifecycleEnabled: false }) }), false)
})

t.test('HV-59: released when the host is out and high availability is off, or has had its time', async t => {
  const released = (...conditions: ReturnType<typeof condition>[]) => {
    const { signal, haOverdue } = step(host(conditions))
    return [signal.released, haOverdue]
  }
  const later = { lastTransitionTime: '2026-11-16T11:00:01Z' }
  t.strictSame(released(), [false, false])
  t.strictSame(released(haOn), [false, false])
  t.strictSame(released(out), [true, false])
  t.strictSame(released(condition('Offboarded', 'True', 'Offboarded', later), haOn), [false, false])
  t.strictSame(released(out, haOn), [true, true])
  t.strictSame(released(condition('Offboarded', 'False'), haOn), [false, false])
  t.equal(step(host([condition('Onboarding', 'False')])).signal.onboarded, true)
  t.equal(step(host([condition('Onboarding', 'True', 'Testing')])).signal.onboarded, false)
})

t.test('HV-50: the agents go when the host is to leave and is empty, or never was in Nova', async t => {
  const empty = condition('Evicting', 'False')
  const leaving = { maintenance: 'termination' as const }
  const cases: Array<[name: string, given: Hypervisor, without: Step['taint'], withIt: Step['taint']]> = [
    ['empty', host([empty], leaving), 'add', 'leave'],
    ['perhaps empty', host([condition('Evicting', 'Unknown')], leaving), 'leave', 'leave'],
    ['not empty yet', host([condition('Evicting', 'True', 'Running')], leaving), 'leave', 'leave'],
    ['ended, but not empty', host([condition('Evicting', 'False', 'Cancelled')], leaving), 'leave', 'leave'],
    ['nobody looked yet', host([], leaving), 'leave', 'leave'],
    ['never in Nova', host([], leaving, ''), 'add', 'leave'],
    ['onboarding still runs', host([empty, condition('Onboarding', 'True', 'Testing')], leaving), 'leave', 'leave'],
    ['stays', host([empty]), 'leave', 'remove'],
    ['stays, though never in Nova', host([], {}, ''), 'leave', 'remove']
  ]
  for (const [name, given, without, withIt] of cases) {
    t.equal(step(given).taint, without, name)
    t.equal(step(given, tainted).taint, withIt, `${name}, tainted`)
    t.equal(isOpen({ node: node(), hypervisor: given }), without !== 'leave', `${name}: open`)
  }
  const others = node(driver, [
    { ...taint, effect: 'NoSchedule' },
    { ...taint, key: 'other' }
  ])
  t.equal(step(host([empty], leaving), others).taint, 'add', 'other taints are others')
  t.equal(step(host([empty], leaving), {}).taint, 'add', 'a node without a spec')
  t.strictSame(taint, { key: 'kvm.cloud.sap/offboarding', effect: 'NoExecute' })
})

t.test('open while high availability is awaited', async t => {
  const open = (...conditions: ReturnType<typeof condition>[]) => isOpen({ node: node(), hypervisor: host(conditions) })
  t.equal(open(out, haOn), true)
  t.equal(open(out), false)
  t.equal(open(haOn), false)
})

const options = { namespace: 'ns', image: 'registry/sleep' }
const name = 'maint-node-1'
const labels = { 'cobaltcore-maintenance-controller': name }
const metadata = {
  name,
  namespace: 'ns',
  labels,
  ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'u' }]
}

t.test('HV-58: the budget', async t => {
  const held = { metadata, spec: { minAvailable: 1, selector: { matchLabels: labels } } }
  t.strictSame(budget(node(), { released: false, onboarded: true }, options), held)
  t.strictSame(budget(node(), { released: true, onboarded: true }, options).spec?.minAvailable, 0)
})

t.test('HV-58: the deployment', async t => {
  const hostname = node({ 'kubernetes.io/hostname': 'h1' })
  t.strictSame(deployment(hostname, { released: false, onboarded: true }, options), {
    metadata,
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels: { ...labels, 'node.gardener.cloud/critical-component': 'true' } },
        spec: {
          hostNetwork: true,
          nodeSelector: { 'kubernetes.io/hostname': 'h1' },
          tolerations: [{ operator: 'Exists' }],
          terminationGracePeriodSeconds: 1,
          containers: [
            {
              name: 'maint',
              image: 'registry/sleep',
              command: ['/bin/sleep', 'inf'],
              startupProbe: { exec: { command: ['/bin/true'] }, periodSeconds: 60, failureThreshold: 1440 },
              resources: { requests: { cpu: '1m', memory: '4Mi' }, limits: { memory: '16Mi' } }
            }
          ]
        }
      }
    }
  })
  const { spec } = deployment(node(), { released: true, onboarded: false }, options)
  t.equal(spec?.replicas, 0)
  t.strictSame(spec?.template?.spec?.nodeSelector, { 'kubernetes.io/hostname': 'node-1' }, 'without the label its name')
  t.strictSame(spec?.template?.spec?.containers?.[0]?.startupProbe?.exec?.command, ['/bin/false'])
})
