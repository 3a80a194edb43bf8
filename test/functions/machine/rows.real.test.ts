// What KubeVirt may say of a VM, row by row, and what is left of §5–§10: each by writing the status that KubeVirt would write.
import t from 'tap'
import { StorageClass, VirtualMachine, VirtualMachineInstance } from '../../../functions/machine/kubevirt.ts'
import { restartNote } from '../../../functions/machine/status.ts'
import { PersistentVolumeClaim, type Kind } from '../../../shared/kube/index.ts'
import { Machine } from '../../../shared/schema/machine.ts'
import { eventually } from '../../servers/eventually.ts'
import { ownKubernetes } from '../../servers/kubernetes.ts'
import { installMachineCrds } from '../../servers/machine-crds.ts'
import { request } from '../../servers/request.ts'
import { bindClaims, openWorld, playInstance, playVm } from './world.ts'

t.setTimeout(120_000)
const api = await ownKubernetes(t)
await installMachineCrds(api)
const world = await openWorld(t, api)
const { admin, poke, find } = world
const ns = api.namespace
await admin.create(StorageClass, { metadata: { name: 'any' }, provisioner: 'none.example' } as unknown as StorageClass)

const make = (name: string, spec: Machine['spec'] = { template: 'small' }): Promise<Machine> =>
  admin.create(Machine, { metadata: { name, namespace: ns }, spec })
const statusOf = async (name: string) => (await find(ns, name)).status
const readyOf = async (name: string) => (await statusOf(name))?.conditions?.find(({ type }) => type === 'Ready')

type Phase = 'Creating' | 'Running' | 'Stopped' | 'Failed'
const rows: Array<[state: string, neverRan: Phase, ranBefore: Phase, reason?: string, more?: object]> = [
  ...['Provisioning', 'Starting', 'WaitingForVolumeBinding'].map((state): (typeof rows)[number] => [
    state,
    'Creating',
    'Stopped'
  ]),
  ['Running', 'Running', 'Running'],
  ['Migrating', 'Running', 'Running'],
  ['Paused', 'Running', 'Running', 'Paused'],
  ['Stopping', 'Stopped', 'Stopped', 'Stopped'],
  ['Stopped', 'Stopped', 'Stopped', 'Stopped'],
  ...['CrashLoopBackOff', 'DataVolumeError', 'ErrorPvcNotFound', 'ErrImagePull', 'ImagePullBackOff'].map(
    (state): (typeof rows)[number] => [state, 'Failed', 'Failed', 'KubeVirtApiError']
  ),
  [
    'Starting',
    'Failed',
    'Failed',
    'KubeVirtApiError',
    { conditions: [{ type: 'Failure', status: 'True', reason: 'FailedCreate', message: 'no pod' }] }
  ],
  ['ErrorUnschedulable', 'Creating', 'Stopped', 'InsufficientResources'],
  ...['Terminating', 'Unknown', 'WaitingForReceiver'].map((state): (typeof rows)[number] => [state, 'Creating', 'Running'])
]

t.test('§5.6: every row of the table, for a Machine that never ran and for one that did', async t => {
  for (const [number, [state, neverRan, ranBefore, reason, more = {}]] of rows.entries()) {
    for (const [ran, wanted] of [
      [false, neverRan],
      [true, ranBefore]
    ] as const) {
      const name = `row-${number}-${ran ? 'ran' : 'new'}`
      await make(name)
      t.equal(await poke(ns, name), 204)
      if (ran) {
        await playVm(world, ns, name, 'Running')
        await poke(ns, name)
        t.equal((await statusOf(name))?.phase, 'Running')
      }
      await playVm(world, ns, name, state, more)
      t.equal(await poke(ns, name), 204)
      const { phase, conditions } = (await statusOf(name)) ?? {}
      t.equal(phase, wanted, `${state}${'conditions' in more ? ' with Failure' : ''}, ${ran ? 'ran before' : 'never ran'}`)
      if (reason !== undefined) t.match(conditions?.[0], { type: 'Ready', status: 'False', reason })
    }
  }
})

t.test('P3: a crash loop that ends is left', async t => {
  const crashing = rows.findIndex(([state]) => state === 'CrashLoopBackOff')
  const name = `row-${crashing}-ran`
  await playVm(world, ns, name, 'Running')
  await poke(ns, name)
  t.equal((await statusOf(name))?.phase, 'Running')
})

t.test('P2: no room is no failure before the grace is over', async t => {
  const hasty = world.start({ UNSCHEDULABLE_GRACE: '1ms' })
  const name = `row-${rows.findIndex(([state]) => state === 'ErrorUnschedulable')}-new`
  t.match((await statusOf(name))?.unschedulableSince, /Z$/)
  await eventually('the grace to be over', async () => {
    t.equal(await poke(ns, name, hasty), 204)
    return (await statusOf(name))?.phase === 'Failed'
  })
  t.match(await readyOf(name), { reason: 'InsufficientResources' })
  await playVm(world, ns, name, 'Running')
  await poke(ns, name)
  t.match(await statusOf(name), { phase: 'Running', unschedulableSince: undefined })
})

t.test('M6: a change that needs a restart is told, and nothing is restarted', async t => {
  await make('restart')
  await poke(ns, 'restart')
  const conditions = [{ type: 'RestartRequired', status: 'True', reason: 'x', message: 'memory' }]
  await playVm(world, ns, 'restart', 'Running', { conditions })
  await poke(ns, 'restart')
  t.ok((await readyOf('restart'))?.message.includes(restartNote))
  const { body } = await request<{ items: Array<{ reason: string; regarding: { name: string } }> }>(
    api,
    'GET',
    `/apis/events.k8s.io/v1/namespaces/${ns}/events`
  )
  t.ok(body.items.some(({ reason, regarding }) => regarding.name === 'restart' && reason === 'RestartRequired'))
  t.equal((await admin.find(VirtualMachine, 'restart', ns))?.spec.runStrategy, 'Always')
})

t.test('S8: a disk goes when its removal is confirmed and no instance uses it any more', async t => {
  const claim = () => admin.find(PersistentVolumeClaim, 'shrinking-data', ns)
  await make('shrinking', { template: 'small', disks: [{ name: 'data', size: '1Gi' }] })
  await poke(ns, 'shrinking')
  await bindClaims(world, ns, ['shrinking-data'])
  await playVm(world, ns, 'shrinking', 'Running')
  await playInstance(world, ns, 'shrinking', { phase: 'Running' })
  await admin.patch(Machine, { name: 'shrinking', namespace: ns }, { spec: { disks: [] } })
  await poke(ns, 'shrinking')
  t.ok(await claim(), 'not confirmed')
  const confirmed = { metadata: { annotations: { 'vitistack.io/confirm-disk-removal': 'data' } } }
  await admin.patch(Machine, { name: 'shrinking', namespace: ns }, confirmed)
  await poke(ns, 'shrinking')
  t.ok(await claim(), 'the running instance still lists it')
  await admin.delete(VirtualMachineInstance, { name: 'shrinking', namespace: ns })
  await eventually('the claim to be given up', async () => {
    t.equal(await poke(ns, 'shrinking'), 204)
    const left = await claim()
    return left === undefined || left.metadata?.deletionTimestamp !== undefined
  })
})

t.test('K1: a VM with the old `running` is brought to one of the two', async t => {
  await make('old')
  await poke(ns, 'old')
  await admin.patch(VirtualMachine, { name: 'old', namespace: ns }, { spec: { runStrategy: null, running: true } })
  t.equal(await poke(ns, 'old'), 204)
  t.match((await admin.find(VirtualMachine, 'old', ns))?.spec, { running: undefined, runStrategy: 'Always' })
})

interface Policy {
  metadata: { name: string }
  spec: object
}
const policies = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false }
const Policy: Kind<Policy> = { ...policies, kind: 'ValidatingAdmissionPolicy', plural: 'validatingadmissionpolicies' }
const Binding: Kind<Policy> = {
  ...policies,
  kind: 'ValidatingAdmissionPolicyBinding',
  plural: 'validatingadmissionpolicybindings'
}

t.test('E5: a denial is told in the words of whoever denied, and taken back with its cause; L2: without user data', async t => {
  const canary = 'CANARY-in-a-denied-vm'
  const resourceRules = [
    { apiGroups: ['kubevirt.io'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['virtualmachines'] }
  ]
  const rule = { expression: "object.metadata.name != 'denied'", message: 'not on a Tuesday' }
  await admin.create(Policy, {
    metadata: { name: 'tuesday' },
    spec: { matchConstraints: { resourceRules }, validations: [rule] }
  })
  await admin.create(Binding, { metadata: { name: 'tuesday' }, spec: { policyName: 'tuesday', validationActions: ['Deny'] } })
  const path = `/apis/kubevirt.io/v1/namespaces/${ns}/virtualmachines?dryRun=All`
  const vm = await admin.find(VirtualMachine, 'old', ns)
  await eventually('the policy to count', async () => {
    const body = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { name: 'denied' }, spec: vm?.spec }
    return (await request(api, 'POST', path, body)).status === 422
  })
  await make('denied', { template: 'small', cloudInit: { userData: `#cloud-config\n# ${canary}` } })
  t.equal(await poke(ns, 'denied'), 204)
  t.match(await readyOf('denied'), { status: 'False', reason: 'KubeVirtApiError', message: /not on a Tuesday/ })
  t.match((await statusOf('denied'))?.conditions?.[1], { type: 'VirtualMachineReady', status: 'False', reason: 'VMFailed' })
  t.equal((await statusOf('denied'))?.phase, 'Failed')
  t.notOk(JSON.stringify(await statusOf('denied')).includes(canary), 'conditions')
  t.notOk(
    world.logs.some(line => line.includes(canary)),
    'logs'
  )
  await admin.delete(Binding, { name: 'tuesday' })
  await eventually('the VM', async () => {
    t.equal(await poke(ns, 'denied'), 204)
    return admin.find(VirtualMachine, 'denied', ns)
  })
  t.match(await readyOf('denied'), { reason: 'Provisioning' })
})

t.test('MT1: of two replicas the one that holds the lease counts; the other counts when it is gone', async t => {
  const count = async (service: { metrics: () => Promise<string> }) =>
    /^kubevirt_operator_machines_total\{.*\} [1-9]/m.test(await service.metrics())
  const lease = { NAMESPACE: 'kubevirt-operator-system' }
  const one = world.start({ ...lease, POD_NAME: 'one' })
  await eventually('the first to count', async () => {
    await poke(ns, 'old', one)
    return count(one)
  })
  const two = world.start({ ...lease, POD_NAME: 'two' })
  await poke(ns, 'old', two)
  t.notOk(await count(two))
  await one.close()
  await eventually('the second to count', () => count(two))
})

t.test('E5, H1: without KubeVirt it says so, and stays ready to say it', async t => {
  await request(api, 'DELETE', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/virtualmachines.kubevirt.io')
  await make('alone')
  await eventually('the error', async () => {
    const status = await poke(ns, 'alone')
    t.ok(status === 204 || status === 503)
    return (await readyOf('alone'))?.reason === 'KubeVirtApiError'
  })
  t.equal(world.service.problem(), undefined)
})
