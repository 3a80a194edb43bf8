// What goes wrong around a function, and what becomes of the event.
import { randomUUID, X509Certificate } from 'node:crypto'
import { connect } from 'node:tls'
import type { Test } from 'tap'
import { Node, Secret } from '../../shared/kube/index.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { eventually } from '../servers/eventually.ts'
import { request } from '../servers/request.ts'
import { startHook } from '../local/kube-api/contract/hook.ts'
import { becomesHypervisor, virtDriver } from './hosts.ts'
import { apply, deliver, hookPlace, hostOf, logged, patience, podsOf, post, type World } from './world.ts'

/** 422 is for ever: one try, then the dead-letter sink, where the class has one for it. */
export async function refusedForGood(t: Test, world: World): Promise<void> {
  const id = randomUUID()
  await deliver(world.broker, { type: 'io.k8s.node.changed.v1', id }, { not: 'a reference' }) // a dead letter is an end too
  await eventually('the refusal', async () => (await logged(world, 'hypervisor', id)).length > 0, patience)
  if (!world.class.storesFirst) {
    const letter = await eventually('the dead letter', async () => (await logged(world, 'dead-letters', id))[0], patience)
    t.match(letter, { msg: 'dead letter', type: 'io.k8s.node.changed.v1', code: '422' })
  }
  await deliver(world.broker, { type: 'io.k8s.node.changed.v1', id: `${id}/next` }, { not: 'a reference' })
  await eventually('a later one', async () => (await logged(world, 'hypervisor', `${id}/next`)).length > 0, patience)
  const tries = (await logged(world, 'hypervisor', id)).filter(line => line['id'] === id)
  t.match(tries, [{ outcome: 'refused', status: 422 }])
  t.equal(tries.length, 1, 'tried once')
}

/** The API server refuses the function's write twice, so that it answers 503 twice: the broker tries again, and the third is taken. */
export async function unavailable(t: Test, world: World): Promise<void> {
  const { admin, cluster, tag } = world
  const [name, probe] = [`${tag}-late`, `${tag}-probe`]
  const hook = await startHook(t, { hook: await hookPlace(cluster) })
  let refusals = 0
  hook.answer(review => ({ allowed: review.name === name && ++refusals > 2, status: { code: 500, message: 'not now' } }))
  const rules = [{ operations: ['CREATE'], apiGroups: ['kvm.cloud.sap'], apiVersions: ['*'], resources: ['hypervisors'] }]
  const webhook = {
    name: 'late.drover.dev',
    rules,
    matchConditions: [{ name: 'ours', expression: `object.metadata.name in ['${name}', '${probe}']` }],
    clientConfig: { url: hook.url, caBundle: hook.ca },
    admissionReviewVersions: ['v1'],
    sideEffects: 'None'
  }
  const kind = 'ValidatingWebhookConfiguration'
  await apply(world, { apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name }, webhooks: [webhook] })
  t.teardown(() => cluster.kubectl(['delete', kind, name]))
  const tried = { apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor', metadata: { name: probe }, spec: {} }
  const asked = () => request(cluster, 'POST', '/apis/kvm.cloud.sap/v1/hypervisors?dryRun=All', tried)
  await eventually('the webhook to be in force', async () => (await asked()).status === 500, patience)
  await admin.create(Node, { metadata: { name, labels: virtDriver } })
  await eventually('the Hypervisor', () => admin.find(Hypervisor, name), patience)
  const ofHost = async () => (await logged(world, 'hypervisor', name)).filter(line => line['key'] === name)
  const answers = await eventually('both answers to one event', async () => {
    const lines = await ofHost()
    const late = lines.find(({ id, status }) => status === 204 && lines.some(one => one['id'] === id && one['status'] === 503))
    return late && lines.filter(({ id }) => id === late['id']).map(({ status }) => status)
  })
  t.strictSame([answers[0], answers.at(-1)], [503, 204], `one event was answered ${answers.join(', ')}`)
}

/** SIGKILL to the function while twenty hosts come in. */
export async function functionKilled(t: Test, world: World): Promise<void> {
  const { admin, cluster } = world
  const names = Array.from({ length: 20 }, (_, i) => `${world.tag}-crowd-${i}`)
  const created = names.map(async (name, i) => {
    await new Promise(resolve => setTimeout(resolve, i * 50))
    await admin.create(Node, { metadata: { name, labels: virtDriver } })
  })
  let kills = 0
  for (const _ of [1, 2]) {
    const pids = await eventually('a function to kill', async () => {
      const found: number[] = []
      for (const { metadata } of await podsOf(world, 'hypervisor'))
        found.push(...(await cluster.processes('/node', metadata.uid)))
      return found.length > 0 && found
    })
    for (const pid of pids) {
      process.kill(pid, 'SIGKILL')
      kills += 1
    }
  }
  await Promise.all(created)
  for (const name of names) await eventually(`the Hypervisor ${name}`, () => admin.find(Hypervisor, name), patience)
  t.ok(kills >= 2, `${kills} kills, ${names.length} hosts, all there`)
}

export async function apiServerRestarted(t: Test, world: World): Promise<void> {
  const { cluster } = world
  await cluster.kill('kube-apiserver')
  const data = { apiVersion: 'v1', kind: 'Node', name: `${world.tag}-cold` }
  const during = deliver(world.broker, { type: 'io.k8s.node.changed.v1', changed: 'labels' }, data)
  await cluster.up()
  await during // handled, or a dead letter
  const ms = await becomesHypervisor(world, `${world.tag}-restart`)
  t.comment(`Node → Hypervisor after the restart: ${ms.toFixed(0)} ms`)
  t.match((await world.admin.find(Hypervisor, `${world.tag}-restart`))?.status?.conditions, [{ type: 'Ready' }])
}

/** The webhook answers all the time, first with the old certificate, then with the new one. */
export async function certificateRotated(t: Test, world: World): Promise<void> {
  const { admin, cluster } = world
  const serial = async () => {
    const secret = await admin.find(Secret, 'admission-tls', 'drover')
    return new X509Certificate(Buffer.from(secret?.data?.['tls.crt'] ?? '', 'base64')).serialNumber
  }
  const before = await serial()
  const patch = (operation: object) =>
    cluster.kubectl(['patch', 'ksvc/admission-certificate', '-n', 'drover', '--type=json', '-p', JSON.stringify([operation])])
  // a hundred days before its end, of which it has ninety: a new revision makes it anew at its start
  const path = '/spec/template/spec/containers/0/env'
  const value = Object.entries({ RENEW_BEFORE: '2400h', DAYS: '120' }).map(([name, value]) => ({ name, value }))
  await patch({ op: 'add', path, value })
  await eventually('a new certificate', async () => (await serial()) !== before, patience)
  await patch({ op: 'remove', path })
  const after = await serial()
  const machines = '/apis/vitistack.io/v1alpha1/namespaces/default/machines?dryRun=All'
  const machine = { apiVersion: 'vitistack.io/v1alpha1', kind: 'Machine', metadata: { name: 'm' }, spec: { template: 'small' } }
  const refused: unknown[] = []
  await eventually(
    'the new certificate to be shown',
    async () => {
      const { status, body } = await request(cluster, 'POST', machines, machine)
      if (status !== 201) refused.push(body)
      await new Promise(resolve => setTimeout(resolve, 200))
      return (await shown(world)) === after
    },
    patience
  )
  t.strictSame(refused, [], 'and the webhook never failed meanwhile')
}

/** Serial number of what the admission pods show. */
async function shown(world: World): Promise<string | undefined> {
  const serials = new Set<string>()
  for (const { status } of await podsOf(world, 'admission')) {
    if (status.podIP === undefined) return undefined
    const socket = connect({ host: status.podIP, port: 9443, rejectUnauthorized: false })
    await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
    serials.add(socket.getPeerX509Certificate()?.serialNumber ?? '')
    socket.destroy()
  }
  return serials.size === 1 ? [...serials][0] : undefined
}

/**
 * The in-memory broker asks nobody who he is, and neither does a function: what a stranger can do is make a function look. It reads the
 * truth and finds nothing to do.
 */
export async function stranger(t: Test, world: World): Promise<void> {
  const { admin, broker, cluster, gateway } = world
  await apply(world, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'rogue', namespace: 'default' } })
  const token = (await cluster.kubectl(['create', 'token', 'rogue', '-n', 'default'])).trim()
  const nobody = `${world.tag}-plain`
  await admin.create(Node, { metadata: { name: nobody } })
  const data = { apiVersion: 'v1', kind: 'Node', name: nobody }
  const headers = { authorization: `Bearer ${token}` }
  await deliver(broker, { type: 'io.k8s.node.changed.v1' }, data, headers)
  t.equal((await post(gateway, { type: 'io.k8s.node.changed.v1' }, data, { headers, host: hostOf('hypervisor') })).status, 204)
  t.equal(await admin.find(Hypervisor, nobody), undefined, 'an event is a hint, the object is the truth')
  const denied = await request({ ...cluster, adminToken: token }, 'POST', '/apis/kvm.cloud.sap/v1/hypervisors', {
    apiVersion: 'kvm.cloud.sap/v1',
    kind: 'Hypervisor',
    metadata: { name: 'rogue' },
    spec: {}
  })
  t.equal(denied.status, 403, 'and the API server asks')
}
