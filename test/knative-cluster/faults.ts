// What goes wrong around a function, and what becomes of the event.
import { randomUUID, X509Certificate } from 'node:crypto'
import type { Test } from 'tap'
import { Node, Secret } from '../../shared/kube/index.ts'
import { Hypervisor } from '../../shared/schema/hypervisor.ts'
import { eventually } from '../servers/eventually.ts'
import { request } from '../servers/request.ts'
import { becomesHypervisor, virtDriver } from './hosts.ts'
import { apply, deliver, hostOf, patience, podsOf, post, type World } from './world.ts'

/** Lines of a function's log, of all its pods, that hold a text. */
async function logged(world: World, fn: string, text: string): Promise<Array<Record<string, unknown>>> {
  const found: Array<Record<string, unknown>> = []
  for (const { metadata } of await podsOf(world, fn)) {
    const log = await world.cluster.kubectl(['logs', '-n', 'drover', metadata.name, '-c', 'function']).catch(() => '')
    found.push(...log.split('\n').flatMap(line => (line.includes(text) ? [JSON.parse(line) as Record<string, unknown>] : [])))
  }
  return found
}

/** 422 is for ever: one try, then the dead-letter sink. */
export async function refusedForGood(t: Test, world: World): Promise<void> {
  const id = randomUUID()
  await deliver(`${world.ingress}/drover/default`, { type: 'io.k8s.node.changed.v1', id }, { not: 'a reference' }) // a dead letter is an end too
  const letter = await eventually('the dead letter', async () => (await logged(world, 'dead-letters', id))[0], patience)
  t.match(letter, { msg: 'dead letter', type: 'io.k8s.node.changed.v1', code: '422' })
  const tries = await logged(world, 'hypervisor', id)
  t.equal(tries.length, 1, 'tried once')
}

/** SIGKILL to the function while twenty hosts come in. */
export async function functionKilled(t: Test, world: World): Promise<void> {
  const { admin, cluster } = world
  const names = Array.from({ length: 20 }, (_, i) => `hv-crowd-${i}`)
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
  const data = { apiVersion: 'v1', kind: 'Node', name: 'hv-cold' }
  const during = deliver(`${world.ingress}/drover/default`, { type: 'io.k8s.node.changed.v1', changed: 'labels' }, data)
  await cluster.up()
  await during // handled, or a dead letter
  const ms = await becomesHypervisor(world, 'hv-after-restart')
  t.comment(`Node → Hypervisor after the restart: ${ms.toFixed(0)} ms`)
}

/** The webhook answers all the time, first with the old certificate, then with the new one. */
export async function certificateRotated(t: Test, world: World): Promise<void> {
  const { admin, cluster } = world
  const serial = async () => {
    const secret = await admin.find(Secret, 'admission-tls', 'drover')
    return new X509Certificate(Buffer.from(secret?.data?.['tls.crt'] ?? '', 'base64')).serialNumber
  }
  const before = await serial()
  // as if its end were near: a new revision makes it anew at its start
  const env = [{ op: 'add', path: '/spec/template/spec/containers/0/env', value: [{ name: 'RENEW_BEFORE', value: '2159h' }] }]
  await cluster.kubectl(['patch', 'ksvc/admission-certificate', '-n', 'drover', '--type=json', '-p', JSON.stringify(env)])
  await eventually('a new certificate', async () => (await serial()) !== before, patience)
  await cluster.kubectl([
    'patch',
    'ksvc/admission-certificate',
    '-n',
    'drover',
    '--type=json',
    '-p',
    JSON.stringify([{ op: 'remove', path: env[0]?.path }])
  ])
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
  t.same(refused, [], 'and the webhook never failed meanwhile')
}

/** Serial number of what the admission pods show. */
async function shown(world: World): Promise<string | undefined> {
  const { connect } = await import('node:tls')
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
  const { admin, cluster, ingress, gateway } = world
  await apply(world, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'rogue', namespace: 'default' } })
  const token = (await cluster.kubectl(['create', 'token', 'rogue', '-n', 'default'])).trim()
  await admin.create(Node, { metadata: { name: 'no-hypervisor' } })
  const data = { apiVersion: 'v1', kind: 'Node', name: 'no-hypervisor' }
  const headers = { authorization: `Bearer ${token}` }
  await deliver(`${ingress}/drover/default`, { type: 'io.k8s.node.changed.v1' }, data, headers)
  t.equal((await post(gateway, { type: 'io.k8s.node.changed.v1' }, data, { headers, host: hostOf('hypervisor') })).status, 204)
  t.equal(await admin.find(Hypervisor, 'no-hypervisor'), undefined, 'an event is a hint, the object is the truth')
  const denied = await request({ ...cluster, adminToken: token }, 'POST', '/apis/kvm.cloud.sap/v1/hypervisors', {
    apiVersion: 'kvm.cloud.sap/v1',
    kind: 'Hypervisor',
    metadata: { name: 'rogue' },
    spec: {}
  })
  t.equal(denied.status, 403, 'and the API server asks')
}
